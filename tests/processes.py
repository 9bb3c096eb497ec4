"""Real servers for tests: the two stores, and a web process as users start it."""

import contextlib
import itertools
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psycopg

from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.redis import EmbeddedRedis
from tenants.provision import provision

ROOT = Path(__file__).resolve().parent.parent
# No test takes the machine's power away: what a killed server has written is in its files all the same.
UNSYNCED = ("fsync", "full_page_writes")
# Below those that the system gives to whoever asks for any: nobody else takes one before its server is up.
PORTS = range(12_000, 32_000)
PORTS_EACH = 4_000  # of a process that runs tests
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw4").removeprefix("gw")) % (len(PORTS) // PORTS_EACH)
_ports = itertools.count(os.getpid(), 7)  # `manage.py run` takes the next one for streams


class Stores:
    """An own PostgreSQL, provisioned, and an own Redis in one folder."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.postgres, self.redis = EmbeddedPostgres(home), EmbeddedRedis(home)

    def start(self) -> None:
        self.postgres.start()
        self._spare_the_disk()
        self.redis.start()
        provision(superuser_url=self.postgres.superuser_url(), **self.urls())

    def stop(self) -> None:
        self.redis.stop()
        self.postgres.stop()

    def _spare_the_disk(self) -> None:
        with psycopg.connect(self.postgres.superuser_url(), autocommit=True) as connection:
            for setting in UNSYNCED:
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")

    def urls(self) -> dict[str, str]:
        roles = ("app", "owner", "admin")
        return {f"{role}_url": self.postgres.url(f"strata_{role}", f"{role}-pw", "strata") for role in roles}

    def environment(self) -> dict[str, str]:
        """The settings of a process that uses these stores."""
        urls = self.urls()
        return {
            "MEMORY_HOME": str(self.home),
            "DATABASE_URL": urls["app_url"],
            "DATABASE_OWNER_URL": urls["owner_url"],
            "DATABASE_ADMIN_URL": urls["admin_url"],
            "REDIS_URL": self.redis.url(0),
            "CELERY_BROKER_URL": self.redis.celery_url(1),
            "SECRET_KEY": "tests only",
        }


class Web:
    """A web process on a free port of loopback."""

    def __init__(self, environment: dict[str, str], *, log: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "granian",
                "--interface",
                "wsgi",
                "--host",
                "127.0.0.1",
                "--port",
                str(self.port),
                "--workers",
                "1",
                "--blocking-threads",
                "8",
                "memoryproject.wsgi:application",
            ],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=self._log,
            stderr=self._log,
        )

    def wait_until_alive(self, seconds: float = 120) -> "Web":
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                httpx.get(f"{self.url}/health", timeout=1)
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return self
        raise TimeoutError("the web process did not answer")

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=60)
        self._log.close()


def free_port() -> int:
    """One that nobody listens at, and that no other process which runs tests is given."""
    while True:
        port = PORTS.start + _WORKER * PORTS_EACH + next(_ports) % PORTS_EACH
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def manage(*args: str, environment: dict[str, str]) -> str:
    """Runs a management command in a process of its own; its output."""
    done = subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
