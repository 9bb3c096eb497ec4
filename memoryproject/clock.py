"""Beat's clock. When the rare tasks were sent last stands in Redis, the schedule itself in memory.

Celery's own scheduler keeps both in a file: it ends when the disk is full, and again at each new start;
without the file, a machine that is off at night never does what is due there.
"""

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from celery.beat import ScheduleEntry, Scheduler
from celery.schedules import schedule
from redis.exceptions import RedisError

from tenants.jobs import wake
from working import redis

# All tasks of the schedule many times over: where as many wait at the broker, no worker takes them.
PILE = 1_000
RARE = 3_600  # seconds: from this period on, a task that was missed is sent at the next start


class Clock(Scheduler):
    """Sends nothing but the rare tasks while a thousand wait at the broker, which keeps them for ever."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        rung = self._last_rung()
        if rung is None:
            return
        for entry in self.schedule.values():
            if (name := str(entry.name)) in rung:
                entry.last_run_at = datetime.fromtimestamp(rung[name], UTC)
            elif _is_rare(entry):
                _note(name)

    def apply_async(
        self, entry: ScheduleEntry, producer: Any = None, advance: bool = True, **kwargs: Any
    ) -> Any:
        is_rare = _is_rare(entry)
        if not is_rare and self._is_piled_up(producer):
            return None
        sent = super().apply_async(entry, producer=producer, advance=advance, **kwargs)
        if is_rare:
            _note(str(entry.name))
        return sent

    def _last_rung(self) -> dict[str, float] | None:
        try:
            rung = redis.read_hash(redis.CLOCK_RUNG)
        except redis.RedisAway:
            return None  # what stands there may be read at the next start
        return {name: float(moment) for name, moment in rung.items()}

    def _is_piled_up(self, producer: Any) -> bool:
        try:
            return wake.count_waiting(producer) >= PILE
        except (*self.connection.connection_errors, *self.connection.channel_errors):
            return False  # to send it is tried several times


def _is_rare(entry: ScheduleEntry) -> bool:
    """Whether its period, if it has one, is an hour or more; what has none rings at an hour of the day."""
    return not isinstance(entry.schedule, schedule) or entry.schedule.seconds >= RARE


def _note(name: str) -> None:
    with suppress(redis.RedisAway, RedisError):
        redis.ask(lambda client: client.hset(redis.CLOCK_RUNG, name, time.time()))
