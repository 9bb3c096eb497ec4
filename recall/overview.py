"""How a tenant's memory is doing, in one look."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ledger.latency import HourOfRecalls, recalls_by_hour
from ledger.tallies import DayOfVerdicts, ReasonCount, decisions_by_reason, verdicts_by_day
from recall.growth import DayOfMemories, count_pending, memories_by_day
from tenants.caller import Caller
from tenants.errors import Forbidden
from tenants.queue_figures import QueueFigures, read_queue_of
from tenants.scope import scope
from tenants.usage import DayOfUsage, usage_of
from working.recent import RecentEvent, count_active, recent_events

DAYS = 30  # that it looks back
HOURS = 48  # of recalls
ACTIVE = timedelta(hours=1)  # since the last activity of a session that is under way
EVENTS = 8


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures; `verdicts` has a day for each of the last, `recalls` an hour, the oldest first."""

    memories: Sequence[DayOfMemories]
    refused: Sequence[ReasonCount]
    recalls: Sequence[HourOfRecalls]
    verdicts: Sequence[DayOfVerdicts]
    queue: QueueFigures
    active_sessions: int
    embeddings_pending: int
    usage: Sequence[DayOfUsage]
    events: Sequence[RecentEvent]

    @property
    def kept(self) -> int:
        """Memories written in the days it looks back."""
        return sum(one.total for one in self.memories)

    @property
    def not_written(self) -> int:
        """Writes that were not done in these days."""
        return sum(one.count for one in self.refused)

    @property
    def held(self) -> int:
        """Those of them that wait for somebody to decide."""
        return sum(one.held for one in self.refused)

    @property
    def helpful_rate(self) -> float | None:
        """The share of helpful ones among the verdicts of these days."""
        count = sum(one.count for one in self.verdicts)
        return sum(one.helpful for one in self.verdicts) / count if count else None

    @property
    def cost_micros(self) -> int:
        """What outside providers have cost this month, as far as their prices are known."""
        return sum(one.cost_micros or 0 for one in self.usage)

    @property
    def provider_calls(self) -> int:
        """Calls to outside providers this month."""
        return sum(one.calls for one in self.usage)

    @property
    def unpriced(self) -> list[str]:
        """The models of which nobody knows the price."""
        return sorted({one.model for one in self.usage if one.cost_micros is None})


def read_overview(*, caller: Caller, now: datetime) -> Overview:
    """The tenant's figures, without any content. Raises Forbidden for a key that is bound to a part of the
    memory: they tell of all of it."""
    if caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("This key is bound to a part of the memory.")
    tenant_id, today = caller.tenant_id, now.astimezone(UTC).date()
    midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    since = midnight - timedelta(days=DAYS - 1)
    with scope(tenant_id):
        return Overview(
            memories=memories_by_day(tenant_id=tenant_id, now=now, days=DAYS),
            refused=decisions_by_reason(tenant_id=tenant_id, since=since),
            recalls=_each_hour(
                recalls_by_hour(tenant_id=tenant_id, since=now - timedelta(hours=HOURS - 1)), now
            ),
            verdicts=_each_day(caller, since),
            queue=read_queue_of(tenant_id=tenant_id),
            active_sessions=count_active(tenant_id=tenant_id, since=now - ACTIVE),
            embeddings_pending=count_pending(tenant_id=tenant_id),
            usage=usage_of(tenant_id=tenant_id, since=today.replace(day=1), until=today),
            events=recent_events(tenant_id=tenant_id, limit=EVENTS),
        )


def _each_day(caller: Caller, since: datetime) -> list[DayOfVerdicts]:
    found = verdicts_by_day(tenant_id=caller.tenant_id, since=since)
    days = [since.date() + timedelta(days=n) for n in range(DAYS)]
    return [found.get(day) or DayOfVerdicts(day, 0, 0) for day in days]


def _each_hour(found: Sequence[HourOfRecalls], now: datetime) -> list[HourOfRecalls]:
    known = {one.hour: one for one in found}
    last = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [last - timedelta(hours=n) for n in reversed(range(HOURS))]
    return [known.get(hour) or HourOfRecalls(hour, 0, None, None) for hour in hours]
