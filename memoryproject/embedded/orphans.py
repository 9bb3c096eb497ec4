"""Processes that an earlier run left behind, recognised by what they hold rather than by a number in a file.

A process id in a file may long belong to somebody else; a server's working directory, compared by inode,
may not.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

MARK = "STRATA_SUPERVISED"  # environment variable of web, worker and beat: which home they belong to


def working_in(folder_fd: int, name: str, program: str) -> list[int]:
    """Ids of processes of `program` whose working directory is `name` in the folder of `folder_fd`."""
    try:
        wanted = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return []
    return [pid for pid in _processes() if _works_in(pid, wanted) and _program(pid) == program]


def marked(identity: str) -> list[int]:
    """Ids of web, worker and beat processes that a supervisor of the home `identity` started."""
    return [pid for pid in _processes() if pid != os.getpid() and _mark(pid) == identity]


def home_identity(home: Path) -> str:
    found = home.stat()
    return f"{found.st_dev}:{found.st_ino}"


def end(pids: Iterable[int], number: signal.Signals, seconds: float, find: Callable[[], list[int]]) -> None:
    """Send `number` to `pids`, wait up to `seconds` until `find` finds none, then kill the rest."""
    _send(pids, number)
    deadline = time.monotonic() + seconds
    while find() and time.monotonic() < deadline:
        time.sleep(0.05)
    while left := find():
        _send(left, signal.SIGKILL)
        time.sleep(0.05)


def _send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _works_in(pid: int, wanted: os.stat_result) -> bool:
    try:
        found = os.stat(f"/proc/{pid}/cwd")
    except OSError:  # gone, a kernel thread, or another user's
        return False
    return (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)


def _program(pid: int) -> str:
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.removesuffix(" (deleted)")
    except OSError:
        return ""


def _mark(pid: int) -> str:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    prefix = f"{MARK}=".encode()
    return next(
        (v.removeprefix(prefix).decode(errors="replace") for v in variables if v.startswith(prefix)), ""
    )
