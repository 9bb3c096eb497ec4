"""What the counters say of the last minutes, for who reads `/metrics` without a Prometheus to keep them."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import pairwise

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

MINUTES_SECONDS = 300.0
APART_SECONDS = 5.0
RETRIEVAL, EVICTIONS = "memory_retrieval_seconds_bucket", "redis_session_evictions_total"
Counts = Mapping[tuple[str, str], float]  # by sample name and, of a bucket, its bound


class Recent:
    """What this process has seen of the counters of all, at most every five seconds for five minutes."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, Counts]] = deque()
        self._lock = threading.Lock()

    def figures(self, registry: CollectorRegistry, now: float | None = None) -> list[Metric]:
        """The gauges, by what the counters have grown since the oldest look; by all of it at the first."""
        moment, counts = time.monotonic() if now is None else now, dict(_counts(registry))
        before, seconds = self._before(moment, counts)
        grown = {key: value - before.get(key, 0.0) for key, value in counts.items()}
        p99, evictions = _quantile(grown, 0.99), grown.get((EVICTIONS, ""), 0.0)
        return [
            GaugeMetricFamily(
                "memory_retrieval_p99_ms",
                "What 99 % of the recalls of the last five minutes stayed below.",
                None if p99 is None else 1_000 * p99,
            ),
            GaugeMetricFamily(
                "redis_session_eviction_rate",
                "Sessions a second, in the last five minutes, that Redis no longer held when they were used.",
                evictions / seconds if seconds else 0.0,
            ),
        ]

    def _before(self, now: float, counts: Counts) -> tuple[Counts, float]:
        """The counts of the oldest look, and how long ago it was; nothing and 0 at the first."""
        with self._lock:
            # One that is older stays as long as it is the only one to compare with.
            while len(self._seen) > 1 and now - self._seen[1][0] >= MINUTES_SECONDS:
                self._seen.popleft()
            oldest = self._seen[0] if self._seen else None
            if not self._seen or now - self._seen[-1][0] >= APART_SECONDS:
                self._seen.append((now, counts))
        return (oldest[1], now - oldest[0]) if oldest else ({}, 0.0)


def _counts(registry: CollectorRegistry) -> Iterator[tuple[tuple[str, str], float]]:
    for family in registry.collect():
        for sample in family.samples:
            if sample.name in {RETRIEVAL, EVICTIONS}:
                yield (sample.name, sample.labels.get("le", "")), sample.value


def _quantile(counts: Counts, share: float) -> float | None:
    """The time in seconds below which `share` lie, linear within a bucket as Prometheus takes it; beyond the
    last finite bound, that one. None of nothing."""
    bounds = sorted((float(le), count) for (name, le), count in counts.items() if name == RETRIEVAL)
    if not bounds or not bounds[-1][1]:
        return None
    wanted = share * bounds[-1][1]
    for (low, below), (high, upto) in pairwise([(0.0, 0.0), *bounds]):
        if upto >= wanted:
            return low if high == float("inf") else low + (high - low) * (wanted - below) / (upto - below)
    return None
