"""A deployment of its own, to be damaged: stores, web, worker and beat as `make run` starts them."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from memoryproject.embedded import programs
from memoryproject.embedded.program import Program
from tests.processes import Stores, free_port, manage


class Deployment:
    """Stores with a migrated database and one tenant; what runs on them is started by the tests."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.stores = Stores(home)
        self.stores.start()
        self.environment = {
            **os.environ, **self.stores.environment(), "PYTHONUNBUFFERED": "1",
            "DATABASE_TIMEOUT_SECONDS": "2", "RECALL_STAGE_SECONDS": "2", "EMBED_SWEEP_SECONDS": "1",
        }  # fmt: skip
        manage("migrate", "--database", "owner", "--verbosity", "0", environment=self.environment)
        manage("create_tenant", "acme", environment=self.environment)
        self.key = manage("create_api_key", "acme", environment=self.environment).split()[-1]

    def web(self, workers: int = 1, **environment: str) -> "RunningWeb":
        port = free_port()
        env = {**self.environment, "WEB_WORKERS": str(workers), **environment}
        program = programs.web("127.0.0.1", port, log=self.home / "web.log", env=env)
        return RunningWeb(program, f"http://127.0.0.1:{port}", self.key)

    def worker(self, **environment: str) -> Program:
        return programs.worker(log=self.home / "worker.log", env={**self.environment, **environment})

    def beat(self) -> Program:
        return programs.beat(log=self.home / "beat.log", env=self.environment)

    def stop(self) -> None:
        self.stores.stop()


class RunningWeb:
    """A web process with a client that sends acme's key."""

    def __init__(self, program: Program, url: str, key: str) -> None:
        self.url = url
        self._program = program
        program.start()
        self.http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30)
        wait_until(lambda: answers(self.http), 30)

    @property
    def pid(self) -> int:
        assert self._program._child is not None
        return self._program._child.pid

    def workers(self) -> list[int]:
        return [
            pid
            for pid in children_of(self.pid)
            if b"spawn_main" in command_line(pid) or b"worker" in command_line(pid)
        ]

    def stop(self) -> None:
        self.http.close()
        self._program.stop()


def answers(http: httpx.Client) -> bool:
    try:
        return http.get("/health").status_code == 200
    except httpx.HTTPError:
        return False


def wait_until(condition: Callable[[], object], seconds: float) -> float:
    """Waits for it, and says how long it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, f"not within {seconds} s"
        time.sleep(0.03)
    return time.monotonic() - start


def children_of(pid: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@contextmanager
def hanging(pid: int) -> Iterator[None]:
    """The process and its children stand still: they refuse nothing and answer nothing."""
    family = [pid, *children_of(pid)]
    for one in family:
        os.kill(one, signal.SIGSTOP)
    try:
        yield
    finally:
        for one in family:
            try:
                os.kill(one, signal.SIGCONT)
            except ProcessLookupError:
                continue


def timed(http: httpx.Client, method: str, path: str, json: object = None) -> tuple[httpx.Response, float]:
    start = time.monotonic()
    answer = http.request(method, path, json=json)
    return answer, time.monotonic() - start
