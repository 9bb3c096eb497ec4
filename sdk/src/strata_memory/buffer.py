"""Writes that could not be sent, on disk until they can: one SQLite file, for any number of processes.

What is in the file is as private as the conversations themselves, and not encrypted; its owner alone can read
it. A write is in one of three states until the server has answered it:

  never left         `left_at` is null: it is sent, however old it is, under any key of its server
  may have arrived   `left_at` says since when: it is sent again as long as the server knows it by its
                     Idempotency-Key, which is for 24 hours (its setting IDEMPOTENCY_KEEP_HOURS) and for the
                     API key that it came with; after that it could be done twice, and is set aside
  set aside          `refused_at` is not null: it is not sent again
"""

import hashlib
import json
import os
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .buffer_file import BufferFile
from .calls import Call
from .errors import BufferFull, Conflict
from .locking import FileLock

OF_SERVER = "refused_at IS NULL AND server = ?1"
OF_SENDER = f"{OF_SERVER} AND sender = ?2"


@dataclass(frozen=True, slots=True)
class Origin:
    """Who writes to where, by names that tell neither: to another server nothing is sent, and under another
    key only what never left."""

    server: str
    sender: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A write that waits. `left_at`: when it may first have reached the server, in Unix time; None: never."""

    id: int
    sender: str
    key: str
    call: Call
    left_at: float | None
    failures: int


@dataclass(frozen=True, slots=True)
class RefusedWrite:
    """A write that is not sent again. `status` is the server's; None: it gave none. `body` as sent."""

    key: str
    method: str
    target: str
    body: bytes
    kept_at: datetime
    refused_at: datetime
    status: int | None
    detail: str


class DiskBuffer:
    """The writes that wait in the file `path`, at most `max_writes` of them with `max_bytes` of bodies, those
    that were refused among them. `keys_kept`: for how long the server knows a write by its key. Everything
    raises BufferUnusable for a file that is no database, is not ours to write, or stays locked too long."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_writes: int = 10_000,
        max_bytes: int = 64 * 1024 * 1024,
        keys_kept: timedelta = timedelta(hours=24),
    ) -> None:
        self.path = Path(path).absolute()
        self.max_writes, self.max_bytes, self.keys_kept = max_writes, max_bytes, keys_kept
        self._file = BufferFile(self.path)
        self._salt = str(self._file.read("SELECT salt FROM file")[0][0])

    def waiting(self) -> int:
        """How many writes wait, of all senders."""
        return int(self._file.read("SELECT count(*) FROM writes WHERE refused_at IS NULL")[0][0])

    def refused(self) -> list[RefusedWrite]:
        """What was set aside, oldest first: refused by the server for good, or too old to be sent again."""
        rows = self._file.read(
            "SELECT key, method, target, content, kept_at, refused_at, status, detail"
            " FROM writes WHERE refused_at IS NOT NULL ORDER BY refused_at, id"
        )
        return [
            RefusedWrite(key, method, target, content, _moment(kept), _moment(refused), status, detail)
            for key, method, target, content, kept, refused, status, detail in rows
        ]

    def forget_refused(self, key: str | None = None) -> None:
        """Deletes what was set aside: one write by its key, or all."""
        with self._file.transaction() as cursor:
            cursor.execute(
                "DELETE FROM writes WHERE refused_at IS NOT NULL AND (?1 IS NULL OR key = ?1)", [key]
            )

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        self._file.close()

    # What follows is for the client. `wait`: seconds for a file that is locked.

    def lock(self) -> FileLock:
        """Held by whoever sends what waits."""
        return FileLock(self.path.with_name(self.path.name + ".lock"))

    def origin(self, url: str, key: str) -> Origin:
        """Who writes with this key to this address."""

        def name(*parts: str) -> str:
            return hashlib.sha256("\n".join([self._salt, *parts]).encode()).hexdigest()

        return Origin(name(url), name(url, key))

    def holds(self, origin: Origin, *, wait: float | None = None) -> bool:
        """Whether a write of the origin waits."""
        query = f"SELECT EXISTS (SELECT 1 FROM writes WHERE {OF_SENDER})"  # noqa: S608  # a constant
        return bool(self._file.read(query, [origin.server, origin.sender], wait=wait)[0][0])

    def keep(
        self, call: Call, key: str, *, origin: Origin, has_left: bool, wait: float | None = None
    ) -> tuple[int, int]:
        """Puts a write behind all others, unless it waits already. Returns its number, and how many of the
        origin wait then. Raises BufferFull, and Conflict if the key is that of another write which waits."""
        now, names = time.time(), [origin.server, origin.sender]
        with self._file.transaction(wait) as cursor:
            number = _number_of(cursor, call, key, names)
            if number is None:
                self._make_sure_there_is_room(cursor, len(call.content))
                cursor.execute(
                    "INSERT INTO writes"
                    " (server, sender, key, method, target, headers, needs, content, kept_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    [*names, key, call.method, call.target, json.dumps(dict(call.headers)),
                     json.dumps(call.needs), call.content, now],
                )  # fmt: skip
                number = cursor.lastrowid or 0
            if has_left:
                cursor.execute("UPDATE writes SET left_at = coalesce(left_at, ?) WHERE id = ?", [now, number])
            count = f"SELECT count(*) FROM writes WHERE {OF_SENDER}"  # noqa: S608  # a constant
            return number, int(cursor.execute(count, names).fetchone()[0])

    def first(self, origin: Origin, *, of_all_keys: bool, wait: float | None = None) -> Waiting | None:
        """The oldest write of the origin, or of all keys of its server."""
        names = [origin.server] if of_all_keys else [origin.server, origin.sender]
        found = self._file.read(
            "SELECT id, sender, key, method, target, headers, needs, content, left_at, failures FROM writes"  # noqa: S608  # a constant
            f" WHERE {OF_SERVER if of_all_keys else OF_SENDER} ORDER BY id LIMIT 1",
            names,
            wait=wait,
        )
        if not found:
            return None
        number, sender, key, method, target, headers, needs, content, left_at, failures = found[0]
        call = Call(
            method, target, content, json.loads(headers), is_write=True, is_kept=True, needs=json.loads(needs)
        )
        return Waiting(number, sender, key, call, left_at, failures)

    def is_too_old(self, one: Waiting) -> bool:
        """Whether the server may have done it, and have forgotten since that it did."""
        return one.left_at is not None and time.time() - one.left_at > self.keys_kept.total_seconds()

    def leaves(self, one: Waiting, *, sender: str, at: float, wait: float | None = None) -> None:
        """It may have arrived from now on, as one of the key that it is sent with."""
        self._change("left_at = coalesce(left_at, ?2), sender = ?3 WHERE id = ?1", [one.id, at, sender], wait)

    def did_not_leave(self, one: Waiting, *, at: float, wait: float | None = None) -> None:
        """It is as it was before it left `at` that moment."""
        self._change(
            "left_at = NULL, sender = ?3 WHERE id = ?1 AND left_at = ?2", [one.id, at, one.sender], wait
        )

    def failed(self, one: Waiting, *, wait: float | None = None) -> None:
        """It stays the first, and has failed once more."""
        self._change("failures = failures + 1 WHERE id = ?1", [one.id], wait)

    def remove(self, number: int, *, wait: float | None = None) -> None:
        """The server has done it, or its caller knows why not."""
        with self._file.transaction(wait) as cursor:
            cursor.execute("DELETE FROM writes WHERE id = ?", [number])

    def set_aside(self, one: Waiting, *, status: int | None, detail: str, wait: float | None = None) -> None:
        """It is not sent again."""
        self._change(
            "refused_at = ?2, status = ?3, detail = ?4 WHERE id = ?1",
            [one.id, time.time(), status, detail],
            wait,
        )

    def _change(self, what: str, values: list[Any], wait: float | None) -> None:
        with self._file.transaction(wait) as cursor:
            cursor.execute(f"UPDATE writes SET {what}", values)  # noqa: S608  # a constant

    def _make_sure_there_is_room(self, cursor: sqlite3.Cursor, size: int) -> None:
        writes, used = cursor.execute("SELECT writes, bytes FROM file").fetchone()
        if writes >= self.max_writes or used + size > self.max_bytes:
            raise BufferFull(
                f"The write could not be sent, and {self.path.name} has no room for it: {writes} writes with"
                f" {used} bytes are in it, those among them that were refused."
            )

    def __repr__(self) -> str:
        return f"DiskBuffer({str(self.path)!r})"


def _number_of(cursor: sqlite3.Cursor, call: Call, key: str, names: list[str]) -> int | None:
    """The number of the write with this key, if it waits."""
    found = cursor.execute(
        f"SELECT id, method, target, content FROM writes WHERE {OF_SENDER} AND key = ?3",  # noqa: S608  # a constant
        [*names, key],
    ).fetchone()
    if found is None:
        return None
    number, *same = found
    if same != [call.method, call.target, call.content]:
        raise Conflict(409, "This Idempotency-Key is that of another write, which waits to be sent.")
    return int(number)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
