"""Folders that only the servers' account may enter, handed to the servers as open descriptors.

Below a 0700 folder of root (`/root/strata/.memory`) the unprivileged account cannot walk to its own data.
A descriptor opened by root leads there without a mode being changed: the server is told `/proc/self/fd/N`.
The same makes paths of any length and with any character safe on a command line and in a configuration.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from memoryproject.embedded.account import Account
from memoryproject.embedded.errors import CannotStart

MAX_SOCKET_PATH = 100  # bytes; the kernel's limit for a Unix socket is 108 with its closing zero


def through(fd: int, name: str = "") -> str:
    """The path by which a child that inherited `fd` reaches `name` in that folder."""
    return f"/proc/self/fd/{fd}/{name}" if name else f"/proc/self/fd/{fd}"


def create_home(home: Path) -> None:
    """Make `home` with its `logs`; parents that exist keep their modes."""
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "logs").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise unusable(home, error) from None
    if not os.access(home, os.W_OK | os.X_OK):
        raise unusable(home, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def unusable(home: Path, error: OSError) -> CannotStart:
    in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
    reason = f"{error.filename} is not a folder" if in_the_way else error.strerror
    return CannotStart(
        f"The data folder {home} cannot be used: {reason}. Set MEMORY_HOME to a folder you can write to."
    )


def open_private(path: Path, account: Account) -> int:
    """Create `path` if needed, give it to `account` with mode 0700, and return its descriptor."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise unusable(path, error) from None
    found = os.fstat(fd)
    try:
        if found.st_uid != account.uid:
            os.fchown(fd, account.uid, account.gid)
        if stat.S_IMODE(found.st_mode) != 0o700:
            os.fchmod(fd, 0o700)
    except OSError as error:
        os.close(fd)
        raise unusable(path, error) from None
    return fd


def lock(folder: Path) -> int:
    """Hold `folder` as ours until the descriptor closes; a second server object on it is refused."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise CannotStart(f"Another process is using {folder}.") from None
    return fd


class SocketFolder:
    """Where one server puts its socket: `home/run-<server>` if clients can name it, else a temporary folder.

    The path stays the same until `remove()`, so a restarted server is found by clients that hold its address.
    """

    def __init__(self, home: Path, server: str, socket_name: str, account: Account) -> None:
        self.path = home / f"run-{server}"
        self.temporary = len(os.fsencode(self.path / socket_name)) >= MAX_SOCKET_PATH
        if self.temporary:
            self.path = _temporary_folder(home, server)
        self.fd = open_private(self.path, account)

    def clear(self) -> None:
        """Remove sockets and their lock files; only when the server is known not to run."""
        for name in os.listdir(self.fd):
            os.unlink(name, dir_fd=self.fd)

    def remove(self) -> None:
        os.close(self.fd)
        shutil.rmtree(self.path, ignore_errors=True)


def _temporary_folder(home: Path, server: str) -> Path:
    found = home.stat()
    identity = hashlib.sha256(f"{found.st_dev}:{found.st_ino}".encode()).hexdigest()[:8]
    prefix = f"strata-{server}-{identity}-"
    for left_behind in Path(tempfile.gettempdir()).glob(f"{prefix}*"):  # a run that was killed
        shutil.rmtree(left_behind, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=prefix))
