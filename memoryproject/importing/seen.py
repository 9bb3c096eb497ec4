"""What a source has told already, on disk: of millions of entries no process has to keep the names."""

import hashlib
import sqlite3
from types import TracebackType
from typing import Self

TABLE = "CREATE TABLE seen (digest BLOB PRIMARY KEY, again INTEGER NOT NULL) WITHOUT ROWID"
MISSING = "INSERT OR IGNORE INTO seen VALUES (?, 0)"
AGAIN = "UPDATE seen SET again = again + 1 WHERE digest = ?"
TIMES = "SELECT again FROM seen WHERE digest = ?"


class Seen:
    """A set of digests in a temporary file that nobody else sees, gone with the process."""

    def __init__(self) -> None:
        self._base = sqlite3.connect("", isolation_level=None)
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute(TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._base.close()

    def is_new(self, *parts: str) -> bool:
        """Whether this is told for the first time; from now on it is not."""
        return self._base.execute(MISSING, (_digest(parts),)).rowcount == 1

    def times(self, *parts: str) -> int:
        """How often this was told before; from now on once more."""
        digest = _digest(parts)
        if self._base.execute(MISSING, (digest,)).rowcount == 1:
            return 0
        self._base.execute(AGAIN, (digest,))
        found: int = self._base.execute(TIMES, (digest,)).fetchone()[0]
        return found


def _digest(parts: tuple[str, ...]) -> bytes:
    told = "\x00".join(parts).encode(errors="surrogatepass")
    return hashlib.blake2b(told, digest_size=16).digest()
