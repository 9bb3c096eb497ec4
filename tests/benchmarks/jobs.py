"""Jobs: what recording one costs a write, and how many a second two Celery workers claim, run and finish.

The workers are those of `make run`. Their jobs do nothing (`tests/torture/kinds.py`), so what is measured is
the queue. The floor beside it takes the rows away by two bare connections in the same batches.
"""

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from threading import Event, Thread
from uuid import UUID, uuid4

import psycopg

from memoryproject.embedded import programs
from tests.benchmarks.figures import best_of
from tests.benchmarks.floors import clock, measure
from tests.benchmarks.stage import Stage

KIND, SLOW_KIND = "torture.nothing", "torture.nothing-slow"
BATCH = 200  # as tenants/jobs/runner.py
PATIENCE = 600
FILL = """
INSERT INTO tenants_job (id, tenant_id, kind, payload, user_id, requested_by, state, slow, urgent, run_at,
                         attempts, max_attempts, done, error, created_at)
SELECT uuidv7(), (%(tenants)s::uuid[])[1 + n %% cardinality(%(tenants)s)], %(kind)s, '{"session": "s-1"}',
       '', '', 'queued', %(slow)s, false, now(), 0, 12, 0, '', now() FROM generate_series(1, %(count)s) n
"""
LEFT = """
SELECT EXISTS (SELECT FROM tenants_job WHERE state = 'queued' AND NOT slow ORDER BY tenant_id, run_at LIMIT 1)
    OR EXISTS (SELECT FROM tenants_job WHERE state = 'queued' AND slow AND NOT urgent
               ORDER BY tenant_id, run_at LIMIT 1)
    OR EXISTS (SELECT FROM tenants_job WHERE state = 'running' ORDER BY tenant_id, lease_until LIMIT 1)
"""
TAKE = """
DELETE FROM tenants_job WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tenants_job WHERE state = 'queued' AND NOT slow AND run_at <= now()
    ORDER BY tenant_id, run_at, id LIMIT %s FOR UPDATE SKIP LOCKED))
RETURNING id, tenant_id, kind, payload
"""
ROW = "{:64} {:>12} {:>12}"


@dataclass(frozen=True, slots=True)
class Size:
    """A queue of `count` jobs, dealt out to `tenants` in turn."""

    count: int
    tenants: int
    slow: bool = False
    enqueued: int = 0  # jobs a second that come in meanwhile
    note: str = ""

    @property
    def title(self) -> str:
        lane = "slow" if self.slow else "quick"
        meanwhile = f", {self.enqueued:,}/s coming in" if self.enqueued else ""
        return f"{lane}, {self.count:,} queued, {self.tenants:,} tenants{meanwhile}{self.note}"


SIZES = (
    Size(10_000, 10), Size(100_000, 10), Size(1_000_000, 10), Size(10_000, 10, note=", after those"),
    Size(10_000, 1_000), Size(100_000, 1_000), Size(1_000_000, 1_000),
    Size(200_000, 10, enqueued=5_000), Size(3_000, 10, slow=True),
)  # fmt: skip


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Prints and returns every figure."""
    figures: dict[str, object] = {"write": write_path(place, options)}
    sizes = [size for size in SIZES if size.count <= 10_000] if options.quick else SIZES
    queue = Queue(place)
    floors = {size: queue.floor(size) for size in sizes if not (size.slow or size.enqueued or size.note)}
    print(ROW.format("", "jobs/s", "floor jobs/s"), flush=True)
    with two_workers(place):
        for size in sizes:
            rate = max(queue.rate(size) for _ in range(1 if size.count > 100_000 else options.repeat))
            figures[size.title] = {"rate": rate, "floor": floors.get(size)}
            floor = f"{floors[size]:,.0f}" if size in floors else ""
            print(ROW.format(size.title, f"{rate:,.0f}", floor), flush=True)
    figures["claims"] = queue.claims()
    return figures


def write_path(place: Stage, options: argparse.Namespace) -> dict[str, float]:
    """A write of one row with and without a job, in turn, so that both meet the same noise."""
    from tenants import audit
    from tenants.jobs import kinds
    from tenants.jobs.kinds import Kind
    from tenants.jobs.queue import enqueue
    from tenants.scope import scope

    kinds.register(Kind(KIND, lambda task, prepared: None))

    def write(number: int, *, with_job: bool) -> None:
        tenant_id = place.members[number % len(place.members)].tenant_id
        with scope(tenant_id):
            audit.record(tenant_id=tenant_id, actor="bench", action="bench.write", target=str(number))
            if with_job:
                enqueue(KIND, payload={"session": "s-1"}, now=clock())

    figures = {}
    for clients in (1, 8):
        runs: dict[bool, list] = {False: [], True: []}
        for _ in range(max(3, options.repeat)):
            for with_job, found in runs.items():
                call = lambda number, with_job=with_job: write(number, with_job=with_job)  # noqa: E731
                found.append(measure(call, clients=clients, seconds=options.seconds / 2))
        bare, both = best_of(runs[False]), best_of(runs[True])
        figures[f"added/{clients}"] = both.p50 - bare.p50
        print(
            f"a write without and with a job, {clients} clients: p50 {bare.p50:.2f} and {both.p50:.2f} ms,"
            f" p99 {bare.p99:.2f} and {both.p99:.2f} ms: {both.p50 - bare.p50:+.2f} ms",
            flush=True,
        )
    return figures


@contextmanager
def two_workers(place: Stage) -> Iterator[None]:
    """Without beat: whatever is done is done upon a hint."""
    env = {**place.environment, "DJANGO_SETTINGS_MODULE": "tests.torture.settings", "LOG_LEVEL": "INFO"}
    workers = [programs.worker(log=place.home / f"worker-{n}.log", env=env) for n in (1, 2)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            wait_until(lambda worker=worker: " ready" in worker.last_words())
        yield
    finally:
        for worker in workers:
            worker.stop()


class Queue:
    """The table of jobs, seen by its superuser."""

    def __init__(self, place: Stage) -> None:
        self._url = place.superuser_url
        self._database = psycopg.connect(place.superuser_url, autocommit=True)
        self._tenants = self._make_tenants(1_000)
        self._empty()

    def rate(self, size: Size) -> float:
        """Jobs a second, from the hint that they are there until the last one is finished."""
        from tenants.jobs import wake

        self._fill(size)
        over, added = Event(), [0]
        start = time.perf_counter()
        wake.send(slow=size.slow)
        feeder = Thread(target=self._feed, args=(size, over, added))
        feeder.start()
        wait_until(lambda: not self._left())
        seconds, done = time.perf_counter() - start, size.count + added[0]
        over.set()
        feeder.join()
        wait_until(lambda: not self._left())
        return done / seconds

    def floor(self, size: Size) -> float:
        """Rows a second that two bare processes delete and return, in the same batches."""
        self._database.execute("BEGIN")  # invisible to the workers until they are all there
        self._fill(size, kind="floor")
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            list(pool.map(take_all, [self._url] * 2))  # starts both
            self._database.execute("COMMIT")
            start = time.perf_counter()
            taken = sum(pool.map(take_all, [self._url] * 2))
            seconds = time.perf_counter() - start
        assert taken == size.count
        return taken / seconds

    def claims(self) -> dict[str, float]:
        """Milliseconds of the claim of a batch, with a million jobs behind it, due and not due."""
        from tenants.jobs import querysets

        figures = {}
        for tenants in (1, 1_000):
            for due in (True, False):
                self._fill(Size(1_000_000, tenants), delay=0 if due else 3_600)
                times = []
                for _ in range(50):
                    start = time.perf_counter()
                    querysets.claim(lane="quick", after=UUID(int=0), limit=BATCH, lease=uuid4(), seconds=600)
                    times.append((time.perf_counter() - start) * 1000)
                self._empty()
                name = f"claim of 1,000,000 {'due' if due else 'not due'}, {tenants:,} tenants"
                figures[name] = sorted(times)[25]
                print(f"{name}: {figures[name]:.2f} ms", flush=True)
        return figures

    def _fill(self, size: Size, *, kind: str = KIND, delay: float = 0) -> None:
        self._database.execute(
            FILL.replace("now(), 0, 12", "now() + make_interval(secs => %(delay)s), 0, 12"),
            {"tenants": self._tenants[: size.tenants], "count": size.count, "slow": size.slow, "delay": delay,
             "kind": SLOW_KIND if size.slow else kind},
        )  # fmt: skip

    def _feed(self, size: Size, over: Event, added: list[int]) -> None:
        """Puts more in, a tenth of a second's at a time, until it is over."""
        from tenants.jobs import wake

        count = size.enqueued // 10
        with psycopg.connect(self._url, autocommit=True) as database:
            while count and not over.wait(0.1):
                database.execute(
                    FILL,
                    {"tenants": self._tenants[: size.tenants], "count": count, "slow": False, "kind": KIND},
                )
                wake.wake(slow=False)
                added[0] += count

    def _left(self) -> bool:
        row = self._database.execute(LEFT).fetchone()
        return bool(row and row[0])

    def _empty(self) -> None:
        self._database.execute("TRUNCATE tenants_job CASCADE")

    def _make_tenants(self, count: int) -> list[UUID]:
        rows = self._database.execute(
            "INSERT INTO tenants_tenant (id, slug, name, created_at)"
            " SELECT gen_random_uuid(), 'jobs-' || n, '', now() FROM generate_series(1, %s) n"
            " ON CONFLICT (slug) DO UPDATE SET name = '' RETURNING id", [count]
        )  # fmt: skip
        return [row[0] for row in rows]


def take_all(url: str) -> int:
    """Deletes what is due, a batch in a transaction, until there is none; how many."""
    taken = 0
    with psycopg.connect(url, autocommit=True) as database:
        while rows := database.execute(TAKE, [BATCH]).fetchall():
            taken += len(rows)
    return taken


def wait_until(condition) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE} s")
        time.sleep(0.02)
