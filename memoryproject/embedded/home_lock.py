"""One supervisor per MEMORY_HOME. The kernel's lock decides: unlike a pid file, it dies with its holder."""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from memoryproject.embedded import runfile
from memoryproject.embedded.errors import CannotStart


class HomeLock:
    """Held inside `with`. Entering raises CannotStart, naming who holds it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._fd = -1

    def __enter__(self) -> None:
        self._fd = os.open(self._home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._fd, 32).decode().strip()
            os.close(self._fd)
            raise self._refusal(holder) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, str(os.getpid()).encode(), 0)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def _refusal(self, holder: str) -> CannotStart:
        running = runfile.read(self._home / "run.json") or {}
        where = f" on {running['url']}" if "url" in running else ""
        return CannotStart(
            f"Strata already runs with the data in {self._home}{where} (process {holder or 'unknown'}); "
            "stop it first, or set MEMORY_HOME to another folder."
        )
