"""Starts `manage.py run` as a person would, and looks for what it leaves behind."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memoryproject.embedded import elsewhere, orphans
from tests.embedded.people import CHECKOUT
from tests.processes import free_port


class Started:
    """A running `manage.py run` with the contents of its `run.json`."""

    def __init__(self, home: Path, process: subprocess.Popen[str]) -> None:
        self.home = home
        self.process = process
        self.run = json.loads((home / "run.json").read_text())


def assert_ends_cleanly(strata: Started, number: signal.Signals) -> None:
    """Send `number` to the supervisor: it ends soon, well, and alone."""
    began = time.monotonic()
    strata.process.send_signal(number)
    said = strata.process.communicate(timeout=30)[0]
    assert time.monotonic() - began < 12  # usually 4; a service that has to be killed takes 10 more
    assert strata.process.returncode == 0, said
    assert processes_of(strata.home) == []
    assert not (strata.home / "run.json").exists()
    assert not (strata.home / "embedded.json").exists()


def environment(home: Path, port: int, **extra: str) -> dict[str, str]:
    named = {*elsewhere.DATABASE_SETTINGS, "REDIS_URL", "CELERY_BROKER_URL", "SECRET_KEY", orphans.MARK}
    kept = {name: value for name, value in os.environ.items() if name.removesuffix("_FILE") not in named}
    return {**kept, "MEMORY_HOME": str(home), "PORT": str(port), "WEB_WORKERS": "1", **extra}


def spawn(
    home: Path, port: int, *command: str, account: dict[str, Any] | None = None, **extra: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command or (sys.executable, "manage.py", "run"), cwd=CHECKOUT, env=environment(home, port, **extra),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True, **(account or {}),
    )  # fmt: skip


@contextlib.contextmanager
def started(
    home: Path, *command: str, port: int | None = None, account: dict[str, Any] | None = None, **extra: str
) -> Iterator[Started]:
    process = spawn(home, port or free_port(), *command, account=account, **extra)
    try:
        wait_for(lambda: (home / "run.json").exists() or process.poll() is not None, 90)
        assert process.poll() is None, process.communicate()[0]
        yield Started(home, process)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
        wait_for(lambda: not processes_of(home), 20)


def refused(home: Path, port: int, **extra: str) -> str:
    """The sentence with which `manage.py run` declines to start."""
    process = spawn(home, port, **extra)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 1, said
    assert "Traceback" not in said
    return said


def processes_of(home: Path) -> list[int]:
    """Every process that belongs to `home`: servers by where they work, our own programs by their mark."""
    if not home.exists():
        return []
    fd = os.open(home, os.O_RDONLY)
    try:
        servers = orphans.working_in(fd, "postgres/data", "postgres") + orphans.working_in(
            fd, "redis", "redis-server"
        )
    finally:
        os.close(fd)
    return servers + orphans.marked(orphans.home_identity(home))


def child_named(home: Path, *words: str) -> int:
    """The oldest process of `home` whose command line has all `words`."""
    return min(pid for pid in processes_of(home) if all(word in command_line(pid) for word in words))


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def wait_for(condition, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
