"""A deployment to be tortured: stores, a Redis of its own as the broker, two workers and beat.

Workers and beat are started as `make run` starts them, and again when they end, as its supervisor does.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg

from memoryproject.embedded import programs
from memoryproject.embedded.program import Program
from memoryproject.embedded.redis import EmbeddedRedis
from tests.faults.deployment import children_of
from tests.processes import ROOT, Stores, manage
from tests.torture.kinds import CAUSE, EFFECT
from tests.torture.written import Written

LONG = os.environ.get("TORTURE") == "long"  # as `make torture` sets it
JOBS = 10_000 if LONG else 400
PATIENCE = 300 if LONG else 60  # seconds until all must be done


class Works:
    """`tenant()` makes a new one for each test; `wait_until` keeps the programs running meanwhile."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.marks = home / "marks"
        self.marks.mkdir()
        self.stores, self.broker = Stores(home / "stores"), EmbeddedRedis(home / "broker")
        self.stores.start()
        self.broker.start()
        self.environment = {
            **os.environ, **self.stores.environment(), "CELERY_BROKER_URL": self.broker.celery_url(0),
            "DJANGO_SETTINGS_MODULE": "tests.torture.settings", "TORTURE_HOME": str(self.marks),
            "JOB_LEASE_SECONDS": "3", "JOB_SWEEP_SECONDS": "1", "DATABASE_TIMEOUT_SECONDS": "2",
            "PYTHONUNBUFFERED": "1",
        }  # fmt: skip
        manage("migrate", "--database", "owner", "--verbosity", "0", environment=self.environment)
        with (home / "teller.log").open("ab") as log:
            self._teller = subprocess.Popen(
                [sys.executable, "-m", "tests.torture.teller"], cwd=ROOT, env=self.environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip
        self.programs: dict[str, Program] = {}
        self.deaths: Counter[str] = Counter()

    def start(self, name: str, **environment: str) -> None:
        """Starts `beat`, or a worker under any other name."""
        log, env = self.home / f"{name}.log", {**self.environment, **environment}
        program = programs.beat(log=log, env=env) if name == "beat" else programs.worker(
            log=log, env=env)  # fmt: skip
        program.start()
        self.programs[name] = program

    def end(self, name: str) -> None:
        """As Ctrl-C does: what runs is finished."""
        self.programs.pop(name).stop()

    def stop(self) -> None:
        self._teller.communicate()
        for name in list(self.programs):
            self.end(name)
        self.broker.stop()
        self.stores.stop()

    def pid(self, name: str) -> int:
        child = self.programs[name]._child
        assert child is not None
        return child.pid

    def keep(self) -> None:
        """Starts again what has ended."""
        for name, program in self.programs.items():
            if program.exited() is not None:
                self.deaths[name] += 1
                program.start()

    def wait_until(self, condition: Callable[[], object], seconds: float = PATIENCE) -> float:
        """Waits for it, and says how long it took."""
        start = time.monotonic()
        while not condition():
            self.keep()
            assert time.monotonic() - start < seconds, f"not within {seconds} s: {self.queue()}"
            time.sleep(0.05)
        return time.monotonic() - start

    def pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.wait_until(lambda: time.monotonic() >= end)

    def tenant(self) -> UUID:
        new = uuid4()
        statement = "INSERT INTO tenants_tenant (id, slug, name, created_at) VALUES (%s, %s, '', now())"
        self.rows(statement + " RETURNING id", new, new.hex)
        return new

    def add(self, tenant: UUID, kind: str, *names: str, **payload: object) -> None:
        """Records a cause and its job for each name, in one commit."""
        line = {"tenant": str(tenant), "kind": kind, "names": names, "payload": payload}
        assert self._teller.stdin is not None
        assert self._teller.stdout is not None
        self._teller.stdin.write(json.dumps(line) + "\n")
        self._teller.stdin.flush()
        assert self._teller.stdout.readline() == "ok\n", "see teller.log"

    def add_many(self, tenant: UUID, kind: str, count: int, payload: str) -> None:
        """Records causes and quick jobs by the thousand, past the product for speed."""
        self.rows(
            """
            WITH cause AS (
                INSERT INTO tenants_auditentry (id, tenant_id, at, actor, action, target, details)
                SELECT gen_random_uuid(), %(tenant)s, now(), 'many', %(action)s, n, '{}'
                FROM generate_series(1, %(count)s) n RETURNING target
            )
            INSERT INTO tenants_job (id, tenant_id, kind, payload, user_id, requested_by, state, slow, urgent,
                                     run_at, attempts, max_attempts, done, error, created_at)
            SELECT gen_random_uuid(), %(tenant)s, %(kind)s,
                   %(payload)s::jsonb || jsonb_build_object('n', target),
                   '', '', 'queued', false, false, now(), 0, 12, 0, '', now()
            FROM cause RETURNING id
            """,
            {"tenant": tenant, "kind": kind, "count": count, "payload": payload, "action": CAUSE},
        )

    def mark(self, name: str, step: str) -> Path:
        """The file by which the job of that name tells that it has reached a step; see kinds.py."""
        return self.marks / f"{name}.{step}"

    def wait_for_mark(self, name: str, step: str) -> int:
        """Waits until the job has reached the step; the number of the process that has it."""
        path = self.mark(name, step)
        self.wait_until(lambda: path.exists() and path.read_text())
        return int(path.read_text())

    def write(self, tenant: UUID, **options: object) -> Written:
        """Starts writers; `options` are those of their command line."""
        file = self.home / f"{uuid4().hex}.txt"
        words = [f"--{name}={value}" for name, value in options.items()]
        argv = [sys.executable, "-m", "tests.torture.writers", str(tenant), str(file), *words]
        with (self.home / "writers.log").open("ab") as log:
            process = subprocess.Popen(argv, cwd=ROOT, env=self.environment, stdout=log, stderr=log)
        return Written(process, file)

    def rows(self, statement: str, *params: Any) -> list[tuple]:
        """As the superuser; `params` are those of the statement, or one mapping of them."""
        given = params[0] if len(params) == 1 and isinstance(params[0], dict) else params
        with psycopg.connect(self.stores.postgres.superuser_url("strata"), autocommit=True) as connection:
            return connection.execute(statement, given or None).fetchall()

    def queue(self) -> list[tuple]:
        """What is left to do, for a message."""
        try:
            return self.rows(
                "SELECT state, slow, attempts, error, count(*) FROM tenants_job GROUP BY 1,2,3,4"
            )
        except psycopg.Error as error:
            return [(str(error),)]

    def drained(self, *tenants: UUID) -> bool:
        """Whether none of their jobs is still to be done."""
        return self.rows(
            "SELECT count(*) FROM tenants_job WHERE state <> 'done' AND tenant_id = ANY(%s)", list(tenants)
        ) == [(0,)]

    def counted(self, tenant: UUID, action: str) -> Counter[str]:
        statement = "SELECT target FROM tenants_auditentry WHERE tenant_id = %s AND action = %s"
        return Counter(row[0] for row in self.rows(statement, tenant, action))

    def longest_wait(self, tenant: UUID) -> float:
        """Seconds between a cause and its effect, by their ids: the workers' clocks are wrong."""
        statement = (
            "SELECT extract(epoch FROM max(uuid_extract_timestamp(e.id) - uuid_extract_timestamp(c.id)))"
            " FROM tenants_auditentry c JOIN tenants_auditentry e USING (tenant_id, target)"
            " WHERE tenant_id = %s AND c.action = %s AND e.action = %s"
        )
        return float(self.rows(statement, tenant, CAUSE, EFFECT)[0][0])

    def assert_exactly_once(self, tenant: UUID, *written: Written) -> None:
        """Every cause that was committed had its effect, once; nothing that was acknowledged is missing."""
        causes, effects = self.counted(tenant, CAUSE), self.counted(tenant, EFFECT)
        assert max(causes.values()) == 1
        assert {n: count for n, count in effects.items() if count > 1} == {}, "happened twice"
        assert causes.keys() - effects.keys() == set(), "did not happen"
        assert effects.keys() - causes.keys() == set(), "happened without a cause"
        for one in written:
            assert one.acknowledged() <= causes.keys()


@contextlib.contextmanager
def frozen(pid: int) -> Iterator[None]:
    """The process and its children stand still: they refuse nothing and answer nothing."""
    os.kill(pid, signal.SIGSTOP)  # first: it starts no more of them
    family = [pid, *children_of(pid)]
    try:
        _signal(family, signal.SIGSTOP)
        yield
    finally:
        _signal(family, signal.SIGCONT)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it was about to end
            os.kill(pid, number)
