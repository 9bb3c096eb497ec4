"""A web process under load: the command that `make run` uses, or another one to compare."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from memoryproject.embedded import programs
from tests.processes import ROOT, free_port

WSGI = "memoryproject.wsgi:application"


def default_command(port: int, environment: Mapping[str, str]) -> list[str]:
    """The command line of `make run`."""
    program = programs.web("127.0.0.1", port, log=Path(os.devnull), env=environment)
    return list(program._argv)[1:]


def granian(port: int, *options: str) -> list[str]:
    """Granian with the options to compare."""
    return ["-m", "granian", "--interface", "wsgi", "--port", str(port), *options, WSGI]


def gunicorn(port: int, *options: str) -> list[str]:
    """Gunicorn's threads, with the options to compare."""
    return ["-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--log-level", "warning", *options, WSGI]


class Server:
    """Web processes on a free port of loopback; `command` makes the arguments of Python from the port."""

    def __init__(
        self, environment: Mapping[str, str], *, log: Path, command: Sequence[str], port: int
    ) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, *command], cwd=ROOT, env={**os.environ, **environment},
            stdout=self._log, stderr=self._log,
        )  # fmt: skip

    def wait_until_ready(self, seconds: float = 120) -> "Server":
        """Waits for `/ready`, so that the model is loaded."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if httpx.get(f"{self.url}/ready", timeout=30).is_success:
                    return self
            except httpx.HTTPError:
                pass
            time.sleep(0.05)
        sys.exit("The web process did not become ready.")

    def pids(self) -> list[int]:
        """The process that was started and its workers, if it has any."""
        pid = self._process.pid
        workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, workers)]

    def cpu_seconds(self) -> float:
        """Processor time of them all so far: the cost of a request whatever else the machine does."""
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.pids()]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()


def start_default(environment: Mapping[str, str], log: Path) -> Server:
    """The web processes as `make run` starts them."""
    port = free_port()
    return Server(
        environment, log=log, port=port, command=default_command(port, environment)
    ).wait_until_ready()
