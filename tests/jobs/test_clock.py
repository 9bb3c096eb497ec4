"""Beat's clock, against the real broker; nobody takes what it sends."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import redis
from celery.beat import ScheduleEntry
from django.conf import settings
from django_redis import get_redis_connection

from memoryproject import celery_app
from memoryproject.clock import PILE, Clock
from working.redis import CLOCK_RUNG, RedisAway

RARE = {
    "clear-deliveries", "clear-old", "expire-decisions", "nightly-compaction", "nightly-retention",
    "summary-views",
}  # fmt: skip


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    url = settings.CELERY_BROKER_URL.replace("redis+socket://", "unix://").replace("virtual_host", "db")
    client = redis.from_url(url)
    forget(client)
    yield client
    forget(client)
    client.close()


def forget(broker: redis.Redis) -> None:
    broker.delete("celery")
    get_redis_connection().delete(CLOCK_RUNG)


def started() -> Clock:
    return Clock(celery_app)


def entry(clock: Clock, name: str) -> ScheduleEntry:
    found: ScheduleEntry = clock.schedule[name]
    return found


def ring(clock: Clock, name: str) -> None:
    clock.apply_entry(entry(clock, name), producer=clock.producer)


def test_after_a_first_start_a_rare_task_is_due_when_its_hour_comes(broker):
    assert not entry(started(), "nightly-retention").is_due().is_due
    assert set(get_redis_connection().hkeys(CLOCK_RUNG)) == RARE


def test_a_night_that_was_missed_is_made_up_for_at_the_next_start(broker):
    started()
    get_redis_connection().hset(CLOCK_RUNG, "nightly-retention", time.time() - 86_400 - 60)
    clock = started()
    assert entry(clock, "nightly-retention").is_due().is_due
    assert not entry(clock, "nightly-compaction").is_due().is_due
    ring(clock, "nightly-retention")
    assert broker.llen("celery") == 1
    assert not entry(started(), "nightly-retention").is_due().is_due


def test_a_task_of_every_hour_keeps_its_hour_over_restarts(broker):
    ring(started(), "clear-old")
    rung = float(get_redis_connection().hget(CLOCK_RUNG, "clear-old"))
    last = entry(started(), "clear-old").last_run_at
    assert abs(last - datetime.fromtimestamp(rung, UTC)) < timedelta(milliseconds=1)


def test_a_start_while_redis_is_away_forgets_no_missed_night(broker, monkeypatch):
    yesterday = time.time() - 86_400 - 60
    get_redis_connection().hset(CLOCK_RUNG, "nightly-retention", yesterday)

    def away(key: str) -> dict[str, str]:
        raise RedisAway("Redis is away.")

    with monkeypatch.context() as patch:
        patch.setattr("memoryproject.clock.redis.read_hash", away)
        assert not entry(started(), "nightly-retention").is_due().is_due
    assert float(get_redis_connection().hget(CLOCK_RUNG, "nightly-retention")) == yesterday
    assert entry(started(), "nightly-retention").is_due().is_due


def test_what_rings_often_is_not_written_down(broker):
    ring(started(), "quick-jobs")
    assert broker.llen("celery") == 1
    assert "quick-jobs" not in get_redis_connection().hkeys(CLOCK_RUNG)


def test_tasks_that_nobody_takes_do_not_pile_up(broker):
    clock = started()
    broker.rpush("celery", *["x"] * (PILE - 1))
    ring(clock, "quick-jobs")
    ring(clock, "slow-jobs")
    assert broker.llen("celery") == PILE
    ring(clock, "nightly-retention")
    assert broker.llen("celery") == PILE + 1


def test_a_redis_that_takes_no_writes_does_not_keep_it_from_starting(broker):
    broker.config_set("maxmemory", 1)
    try:
        clock = started()
        ring(clock, "quick-jobs")
    finally:
        broker.config_set("maxmemory", 0)
    ring(clock, "quick-jobs")
    assert broker.llen("celery") == 1
