"""A lock between processes that ends with its holder, however that ends."""

import os
import sys
from pathlib import Path
from weakref import WeakSet

from .errors import BufferUnusable

if sys.platform == "win32":
    import msvcrt

    def _take(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Held by one `FileLock` on this machine at a time, in whatever process or thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> bool:
        """Whether it is held now; does not wait. Raises BufferUnusable where there can be no such file."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise BufferUnusable(f"{self._path.name} cannot be used: {error.strerror}.") from None
        try:
            _take(file)
        except OSError:
            os.close(file)
            return False
        self._file = file
        _held.add(self)
        return True

    def release(self) -> None:
        """Lets others have it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


_held: WeakSet[FileLock] = WeakSet()


def _release_in_child() -> None:
    """A fork has the open file, too: as long as it is open there, the lock would be held."""
    for lock in list(_held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)
