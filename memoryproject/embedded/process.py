"""One child process: its own session, a log file, an end that takes its whole family along."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path

from memoryproject.embedded.account import Account

PR_SET_PDEATHSIG = 1
MAX_LOG_BYTES = 10_000_000
POLL_SECONDS = 0.02
_libc = ctypes.CDLL(None, use_errno=True)  # loaded before any fork


class Child:
    """A started process. `parent_death` is the signal that the kernel sends it when we die without a word.

    Must be created on the main thread: the kernel means the thread that started the child, not the process.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        log: Path,
        env: Mapping[str, str],
        cwd: str = "/",
        account: Account | None = None,
        pass_fds: Sequence[int] = (),
        parent_death: signal.Signals = signal.SIGTERM,
        stdin: bytes = b"",
    ) -> None:
        self.log = log
        bound_size(log)
        drop = account is not None and not account.is_caller
        with private_append(log) as output:
            self._log_start = output.tell()
            self._popen = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=output, stderr=output, env=dict(env), cwd=cwd,
                start_new_session=True, pass_fds=tuple(pass_fds), umask=0o077 if account else -1,
                user=account.uid if account and drop else None,
                group=account.gid if account and drop else None,
                extra_groups=[] if drop else None,
                preexec_fn=die_with_parent(parent_death),  # noqa: PLW1509  runs after setuid, which would undo it
            )  # fmt: skip
        self.pid = self._popen.pid
        if self._popen.stdin is not None:
            with contextlib.suppress(BrokenPipeError), self._popen.stdin as pipe:
                pipe.write(stdin)

    def exited(self) -> int | None:
        """The exit code (negative: the signal) once the process and its whole group have ended; else None."""
        if self._popen.returncode is None and _has_ended(self.pid):
            self._end_group()
        return self._popen.returncode

    def send(self, number: signal.Signals) -> None:
        if not _has_ended(self.pid):
            os.kill(self.pid, number)

    def stop(self, *steps: tuple[signal.Signals, float]) -> None:
        """Send each signal in turn, waiting its seconds for the end; then kill the whole group."""
        for number, seconds in steps:
            if self.exited() is not None:
                return
            self.send(number)
            self.wait(seconds)
        if self.exited() is None:
            self.kill()

    def wait(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.exited() is None:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        return True

    def kill(self) -> None:
        if self._popen.returncode is None:
            self._end_group()

    def log_tail(self, lines: int = 30) -> str:
        """The last lines that this process wrote to its log."""
        with self.log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            own = self._log_start if self._log_start <= size else 0  # it was cut since
            file.seek(max(own, size - 20_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])

    def _end_group(self) -> None:
        # Before it is waited for, the leader keeps the group's number from being given to somebody else.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()


def _has_ended(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    parent = os.getpid()

    def preexec() -> None:
        _libc.prctl(PR_SET_PDEATHSIG, int(number))
        if os.getppid() != parent:  # it died before it could be watched
            os._exit(1)

    return preexec


def private_append(path: Path) -> FileIO:
    return open(path, "ab", buffering=0, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def bound_size(log: Path) -> None:
    """Move what a grown log holds to `<name>.log.1`. Writers append, so they go on at its new beginning."""
    try:
        if log.stat().st_size > MAX_LOG_BYTES:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)
    except FileNotFoundError:
        return


def cause(output: str) -> str:
    """The line of a server's output that says why it gave up: the first complaint, as others follow it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for word in ("PANIC:", "FATAL:", "ERROR:", "error:"):
        for line in lines:
            if word in line and "database system is" not in line:  # what it tells those who connect too early
                return line.partition(word)[2].strip()
    last = lines[-1] if lines else "it ended without a word"
    return last.partition(" # ")[2] or last  # Redis puts number, role, date and this sign before a warning
