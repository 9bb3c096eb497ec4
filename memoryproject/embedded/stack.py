"""All of Strata on one machine: what `make run` starts and in which order."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from memoryproject.embedded import elsewhere, orphans, port, programs, runfile
from memoryproject.embedded.credentials import Credentials
from memoryproject.embedded.errors import CannotStart
from memoryproject.embedded.folders import create_home
from memoryproject.embedded.home_lock import HomeLock
from memoryproject.embedded.postgres import EmbeddedPostgres
from memoryproject.embedded.program import Program, manage
from memoryproject.embedded.redis import EmbeddedRedis
from memoryproject.embedded.stop_signals import StopRequested, StopSignals
from memoryproject.embedded.supervisor import Supervisor

READY_SECONDS = 60.0  # the local model's first build is part of it
PATIENCE_SECONDS = 10.0  # of silence, before the person at the terminal is told what is awaited
LOOPBACK = ("127.0.0.1", "localhost", "::1")
DATABASE = "strata"


@dataclass(frozen=True)
class Options:
    """`home` is absolute; `host` and `port` are where the web server listens, `stream_port` where the server
    of live events does; 0: on one that is free."""

    home: Path
    host: str
    port: int
    stream_port: int


class Stack:
    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self.home = options.home
        self._options = options
        self._say = say
        self._signals = StopSignals()
        self._supervisor = Supervisor(say, self._signals.check)
        self._url = port.public_url(options.host, options.port)
        self._env = dict(os.environ)

    def run(self) -> None:
        """Start everything, watch over it until a stop signal, stop everything. Raises CannotStart."""
        with self._signals:
            create_home(self.home)
            with HomeLock(self.home):
                try:
                    self._start()
                    self._supervisor.watch()
                except StopRequested:
                    self._say("Stopping …")
                finally:
                    self._signals.ignore()
                    self._stop()

    def _start(self) -> None:
        runfile.remove(
            self.home / "run.json"
        )  # of a run that was killed: whoever waits for it waits for ours
        self._end_orphans()
        self._find_ports()
        self._prepare_environment()
        self._start_servers()
        self._say("Preparing the database …")
        manage(["migrate", "--database", "owner", "--verbosity", "0"], log=self._log("manage"), env=self._env)
        demo = self._demo_tenant()
        self._start_programs()
        self._wait_for(self._web, f"{self._url}/ready")
        self._wait_for(self._stream, f"{self._stream_url}/health")
        self._seed(demo)
        addresses = {"url": self._url, "stream_url": self._stream_url}
        runfile.write(self.home / "run.json", {**addresses, **demo, "pid": os.getpid()})
        self._announce(demo)

    def _stop(self) -> None:
        runfile.remove(self.home / "run.json")
        self._supervisor.stop()
        runfile.remove(self.home / "embedded.json")  # it must not lead `manage.py` to servers that are gone

    def _end_orphans(self) -> None:
        """A killed supervisor takes its children along; this is for those that did not hear of it."""
        identity = orphans.home_identity(self.home)
        if left := orphans.marked(identity):
            self._say("Stopping processes that an earlier run left behind.")
            orphans.end(left, signal.SIGTERM, 5.0, lambda: orphans.marked(identity))

    def _find_ports(self) -> None:
        host, stream_port = self._options.host, self._options.stream_port
        port.check_free(host, self._options.port)
        if stream_port:
            port.check_free(host, stream_port, setting="STREAM_PORT")
        self._stream_port = stream_port or port.one_beside(host, self._options.port)
        self._stream_url = port.public_url(host, self._stream_port)
        if not elsewhere.is_set("STREAM_URL", self._env):
            self._env["STREAM_URL"] = self._stream_url

    def _prepare_environment(self) -> None:
        self._env.update(
            MEMORY_HOME=str(self.home),
            PYTHONUNBUFFERED="1",
            **{orphans.MARK: orphans.home_identity(self.home)},
        )
        self._env.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
        if not elsewhere.is_set("LOG_FORMAT", self._env):
            self._env["LOG_FORMAT"] = "text"  # for the person at the terminal, who is told where the logs are

    def _start_servers(self) -> None:
        """Start what the settings do not name, and tell every `manage.py` of this home where it is."""
        credentials = Credentials.load(self.home)
        found = {"SECRET_KEY": credentials.secret_key}
        if not elsewhere.database_is_elsewhere(self._env):
            found |= self._start_postgres(credentials)
        if not elsewhere.redis_is_elsewhere(self._env):
            found |= self._start_redis()
        elif not elsewhere.is_set("CELERY_BROKER_URL", self._env):
            for form in {"", "_FILE"} & {name.removeprefix("REDIS_URL") for name in self._env}:
                self._env[f"CELERY_BROKER_URL{form}"] = self._env[f"REDIS_URL{form}"]
        runfile.write(self.home / "embedded.json", found)

    def _start_postgres(self, credentials: Credentials) -> dict[str, str]:
        from tenants.provision import provision

        server = EmbeddedPostgres(self.home, self._say)
        self._say("Starting PostgreSQL …")
        self._supervisor.start(server)
        app = server.url("strata_app", credentials.strata_app, DATABASE)
        owner = server.url("strata_owner", credentials.strata_owner, DATABASE)
        admin = server.url("strata_admin", credentials.strata_admin, DATABASE)
        try:
            provision(superuser_url=server.superuser_url(), app_url=app, owner_url=owner, admin_url=admin)
        except psycopg.Error as error:
            raise CannotStart(f"The database could not be set up: {error} (see {server.log})") from None
        return {"DATABASE_URL": app, "DATABASE_OWNER_URL": owner, "DATABASE_ADMIN_URL": admin}

    def _start_redis(self) -> dict[str, str]:
        server = EmbeddedRedis(self.home, self._say)
        self._say("Starting Redis …")
        self._supervisor.start(server)
        return {"REDIS_URL": server.url(0), "CELERY_BROKER_URL": server.celery_url(1)}

    def _demo_tenant(self) -> dict[str, str]:
        printed = manage(["demo_tenant"], log=self._log("manage"), env=self._env)
        try:
            demo: dict[str, str] = json.loads(printed)
        except ValueError:
            raise CannotStart(f"manage.py demo_tenant did not print JSON but {printed[:200]!r}") from None
        if self._options.host in LOOPBACK:  # the original clients of three dialects send no key
            self._env.setdefault("MEMORY_ANONYMOUS_TENANT", demo["tenant"])
        return {name: demo[name] for name in ("tenant", "api_key", "admin_user", "admin_password")}

    def _start_programs(self) -> None:
        self._say("Starting web, stream, worker and beat …")
        bind, env = (self._options.host, self._options.port), self._env | self._metrics_folder()
        self._web = programs.web(*bind, log=self._log("web"), env=env)
        self._supervisor.start(self._web)
        self._stream = programs.stream(bind[0], self._stream_port, log=self._log("stream"), env=env)
        self._supervisor.start(self._stream)
        self._supervisor.start(programs.worker(log=self._log("worker"), env=env))
        self._supervisor.start(programs.beat(log=self._log("beat"), env=env))

    def _metrics_folder(self) -> dict[str, str]:
        """Where the programs add up their metrics, from nothing at each start."""
        folder = self.home / "metrics"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
        return {"PROMETHEUS_MULTIPROC_DIR": str(folder)}

    def _wait_for(self, program: Program, url: str) -> None:
        began, patience = time.monotonic(), PATIENCE_SECONDS
        while True:
            self._signals.check()
            is_ready, answer = port.answers(url)
            if is_ready:
                return
            waited = time.monotonic() - began
            if (code := program.exited()) is not None:
                raise CannotStart(
                    f"The {program.name} server ended (exit code {code}):\n{program.last_words()}"
                )
            if waited > READY_SECONDS:
                raise CannotStart(
                    f"{url} did not answer 200 within {READY_SECONDS:.0f} s but: {answer}\n"
                    f"{program.last_words()}\n(see {program.log})"
                )
            if waited > patience:
                self._say(f"Waiting for {url}: {answer} (see {program.log})")
                patience += PATIENCE_SECONDS
            time.sleep(0.05)

    def _seed(self, demo: dict[str, str]) -> None:
        """Once per home, play the bundled conversation into the demo tenant, so that there is something to
        recall. What was erased since does not come back."""
        seeded = self.home / "seeded"
        if seeded.exists():
            return
        self._say("Playing the bundled conversation into the demo tenant …")
        address = {"STRATA_URL": self._url, "STRATA_API_KEY": demo["api_key"]}
        try:
            manage(
                ["replay", "--bundled", "--quiet", "--no-check"],
                log=self._log("manage"),
                env=self._env | address,
            )
        except CannotStart as error:
            self._say(f"The demo tenant stays empty: {error}")  # the server is fine without it
            return
        seeded.touch()

    def _announce(self, demo: dict[str, str]) -> None:
        self._say(
            f"""
Strata is ready.

  Start    {self._url}/
  Console  {self._url}/console/    user {demo["admin_user"]}, password {demo["admin_password"]}
  API      {self._url}/api/docs/
  Events   {self._stream_url}/api/v1/events/stream    as they happen
  Admin    {self._url}/admin/    the same user
  Tenant   {demo["tenant"]}
  Key      {demo["api_key"]}

These are also in {self.home / "run.json"}; logs are in {self.home / "logs"}.
Ctrl-C stops everything; the data stays.
"""
        )

    def _log(self, name: str) -> Path:
        return self.home / "logs" / f"{name}.log"
