"""The guide's figures of the last minutes, worked out from what is counted."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram

from memoryproject.recent import Recent


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def retrieval(registry):
    return Histogram("memory_retrieval_seconds", "", buckets=(0.1, 0.15, 0.2), registry=registry)


@pytest.fixture
def evictions(registry):
    return Counter("redis_session_evictions", "", registry=registry)


def figures(recent, registry, now):
    return {
        sample.name: sample.value for metric in recent.figures(registry, now) for sample in metric.samples
    }


def test_the_first_look_tells_of_all_so_far(registry, retrieval, evictions):
    for _ in range(99):
        retrieval.observe(0.05)
    retrieval.observe(0.12)
    found = figures(Recent(), registry, 0.0)
    assert found["memory_retrieval_p99_ms"] == pytest.approx(100.0)
    assert found["redis_session_eviction_rate"] == 0.0


def test_without_a_recall_there_is_no_quantile(registry, retrieval, evictions):
    assert "memory_retrieval_p99_ms" not in figures(Recent(), registry, 0.0)


def test_a_slow_hour_ago_is_forgotten_after_five_minutes(registry, retrieval, evictions):
    recent = Recent()
    for _ in range(100):
        retrieval.observe(0.19)
    assert figures(recent, registry, 0.0)["memory_retrieval_p99_ms"] > 150
    figures(recent, registry, 290.0)
    for _ in range(100):
        retrieval.observe(0.05)
    assert figures(recent, registry, 310.0)["memory_retrieval_p99_ms"] < 100.1
    assert figures(recent, registry, 600.0)["memory_retrieval_p99_ms"] < 100.1


def test_what_is_slower_than_the_last_bound_is_told_as_that(registry, retrieval, evictions):
    retrieval.observe(9)
    assert figures(Recent(), registry, 0.0)["memory_retrieval_p99_ms"] == pytest.approx(200.0)


def test_evictions_are_told_by_the_second(registry, retrieval, evictions):
    recent = Recent()
    figures(recent, registry, 0.0)
    evictions.inc(30)
    assert figures(recent, registry, 60.0)["redis_session_eviction_rate"] == pytest.approx(0.5)
    figures(recent, registry, 299.0)
    assert figures(recent, registry, 600.0)["redis_session_eviction_rate"] == 0.0
