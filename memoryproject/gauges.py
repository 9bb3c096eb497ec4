"""What the stores hold and whether they answer, looked up when somebody asks for the metrics."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import DatabaseError, connections
from django.utils import timezone
from django_redis import get_redis_connection
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from episodic.metrics import count_pending, episodes_per_user_p99
from ledger.feedback import helpful_rate
from providers.embeddings import embedders
from tenants.generations import sum_missing
from tenants.queue_figures import read_queue
from tenants.scope import unscoped
from working import redis

log = logging.getLogger(__name__)
KEPT_SECONDS = 5.0  # several collectors, or an impatient one, cost the stores one look
MEMORIES_KEPT_SECONDS = 300.0  # what changes slowly, and takes longer to look up
PATIENCE_SECONDS = 2.0  # for a store that hangs; its figures are left out
STATES = ("active", "idle", "idle in transaction")

# Every process's connections as the app role: the server sees them all, a process only its own pool's.
CONNECTIONS = """
SELECT state, count(*) FROM pg_stat_activity
WHERE datname = current_database() AND usename = current_user AND state IS NOT NULL GROUP BY state
"""


@dataclass
class Look:
    """One look at a store, made by a thread that may be left behind. The last result serves for a while."""

    read: Callable[[], list[Metric]]
    kept: float = KEPT_SECONDS
    found: list[Metric] | None = None
    until: float = 0.0
    thread: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> None:
        with self.lock:
            if time.monotonic() >= self.until and (self.thread is None or not self.thread.is_alive()):
                self.found = None
                self.thread = threading.Thread(target=self._run, name="read-gauges", daemon=True)
                self.thread.start()

    def result(self, seconds: float) -> list[Metric]:
        """What was found, nothing of a store that is away or takes longer."""
        thread = self.thread
        if thread is not None:
            thread.join(max(seconds, 0))
        return self.found or []

    def _run(self) -> None:
        try:
            self.found = self.read()
            self.until = time.monotonic() + self.kept
        except (DatabaseError, RedisError, OSError) as error:
            log.warning("gauges_not_read: %s", error)
        finally:
            connections.close_all()  # this thread's


class StoreGauges(Collector):
    """The gauges of PostgreSQL and Redis. Figures of a store that does not answer are left out, and its
    `…_up` is 0."""

    def __init__(self) -> None:
        self._looks = {"postgres": Look(_read_postgres), "redis": Look(_read_redis)}
        self._memories = Look(_read_memories, kept=MEMORIES_KEPT_SECONDS)

    def describe(self) -> list[Metric]:
        return []  # known by asking only; registering must ask nobody

    def collect(self) -> Iterator[Metric]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        for look in (*self._looks.values(), self._memories):
            look.begin()
        for name, look in self._looks.items():
            found = look.result(deadline - time.monotonic())
            yield GaugeMetricFamily(f"{name}_up", f"Whether {name} answers, 1 or 0.", float(bool(found)))
            yield from found
        yield from self._memories.result(deadline - time.monotonic())


def _read_postgres() -> list[Metric]:
    jobs = read_queue()
    states = dict.fromkeys(STATES, 0)
    with unscoped(), connections["default"].cursor() as cursor:
        cursor.execute(CONNECTIONS)
        states.update(dict(cursor.fetchall()))
    states["active"] -= 1  # this very query
    used = GaugeMetricFamily(
        "database_connections", "Connections of the app role, of all processes.", labels=["state"]
    )
    for state, count in states.items():
        used.add_metric([state], max(count, 0))
    return [
        GaugeMetricFamily(
            "jobs_queued", "Jobs that wait, those put off included; to 100,000 a lane.", jobs.queued
        ),
        GaugeMetricFamily(
            "jobs_running", "Jobs that a worker has claimed; counted to 100,000.", jobs.running
        ),
        GaugeMetricFamily("jobs_failed", "Dead letters; counted to 100,000.", jobs.failed),
        GaugeMetricFamily(
            "jobs_longest_wait_seconds", "How long the first job of all has been due.", jobs.longest_wait
        ),
        GaugeMetricFamily(
            "episodes_embed_pending", "Episodes without a vector yet; counted to 100,000.", count_pending()
        ),
        _missing(),
        used,
    ]


def _missing() -> Metric:
    lacked = GaugeMetricFamily(
        "embeddings_missing",
        "Vectors that a model lacks of tenants with a change of models under way, as workers last looked.",
        labels=["model"],
    )
    for model, count in (dict.fromkeys((one.model for one in embedders()), 0) | sum_missing()).items():
        lacked.add_metric([model], count)
    return lacked


def _read_memories() -> list[Metric]:
    return [
        GaugeMetricFamily(
            "memory_helpful_rate",
            "Share of the verdicts of the last seven days that call a memory helpful.",
            helpful_rate(now=timezone.now()),
        ),
        GaugeMetricFamily(
            "episodes_per_user_p99", "Episodes that 99 % of users have at most.", episodes_per_user_p99()
        ),
    ]


def _read_redis() -> list[Metric]:
    client = get_redis_connection()
    stats, memory = client.info("stats"), client.info("memory")
    return [
        CounterMetricFamily(
            "redis_evicted_keys", "Keys that Redis dropped for want of memory.", stats["evicted_keys"]
        ),
        CounterMetricFamily(
            "redis_expired_keys", "Keys whose time was over, such as idle sessions'.", stats["expired_keys"]
        ),
        GaugeMetricFamily("redis_memory_bytes", "Memory that Redis uses.", memory["used_memory"]),
        GaugeMetricFamily(
            "worker_up", "Whether a worker was at work in the last 45 seconds.", float(redis.worker_seen())
        ),
    ]
