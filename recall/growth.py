"""How a tenant's memory grows: what of each kind was written on each day, and what waits for a vector."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as moment_of_day
from uuid import UUID

from django.db import connection
from django.db.models import Count, Model
from django.db.models.functions import TruncDate

from episodic.models import Entity, Episode
from knowledge.models import Chunk, Document
from observations.models import Observation
from tenants.scope import scope

SERVES = 600.0  # seconds for which the days before today are counted once; of these only deletions take
TENANTS_KEPT = 1_000
MOST = 100_000  # that wait for a vector are counted no further
# Of both there are many: they are counted by `memories_written`.
_FEW: Mapping[str, type[Model]] = {"entity": Entity, "document": Document}
_EMBEDDED: tuple[type[Model], ...] = (Episode, Entity, Observation, Chunk)

Counts = dict[date, dict[str, int]]


@dataclass(frozen=True, slots=True)
class DayOfMemories:
    """How many memories of each kind there are from one day (UTC)."""

    day: date
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """Of all kinds."""
        return sum(self.counts.values())


# By tenant and first day: until when it serves, up to which day, and what was counted.
_known: dict[tuple[UUID, date], tuple[float, date, Counts]] = {}
_lock = threading.Lock()


def memories_by_day(*, tenant_id: UUID, now: datetime, days: int) -> list[DayOfMemories]:
    """The memories written in the last days that there still are, by kind, oldest day first: episodes and
    observations by the day they were written, slots and documents by that of their last change.

    Today is counted each time, the days before it every ten minutes: an entry of an index is read for each.
    """
    today = now.astimezone(UTC).date()
    first = today - timedelta(days=days - 1)
    counts = _before_today(tenant_id, first, today) | _count(tenant_id, today, today + timedelta(days=1))
    all_days = [first + timedelta(days=n) for n in range(days)]
    return [DayOfMemories(day, counts.get(day, {})) for day in all_days]


def count_pending(*, tenant_id: UUID) -> int:
    """Memories and passages of documents that have no vector yet; of each kind exact up to 100,000."""
    with scope(tenant_id):
        return sum(
            model._default_manager.filter(tenant_id=tenant_id, embed_pending=True).order_by()[:MOST].count()
            for model in _EMBEDDED
        )


def _before_today(tenant_id: UUID, first: date, today: date) -> Counts:
    key, begun = (tenant_id, first), time.monotonic()
    with _lock:
        known = _known.get(key)
    if known is not None and begun < known[0] and known[1] == today:
        return known[2]
    counts = _count(tenant_id, first, today)
    with _lock:
        if len(_known) >= TENANTS_KEPT:
            _known.clear()
        _known[key] = (begun + SERVES, today, counts)
    return counts


def _count(tenant_id: UUID, first: date, end: date) -> Counts:
    since, until = _start(first), _start(end)
    counts: Counts = {}
    with scope(tenant_id):
        with connection.cursor() as cursor:
            cursor.execute("SELECT memories_written(%s, %s)", [since, until])
            found = json.loads(cursor.fetchone()[0])
        for kind, days in found.items():
            for day, count in (days or {}).items():
                counts.setdefault(date.fromisoformat(day), {})[kind] = count
        for kind, model in _FEW.items():
            rows = model._default_manager.filter(
                tenant_id=tenant_id, updated_at__gte=since, updated_at__lt=until
            ).order_by()
            by_day = rows.annotate(day=TruncDate("updated_at")).values_list("day")
            for day, count in by_day.annotate(count=Count("id")):
                counts.setdefault(day, {})[kind] = count
    return counts


def _start(day: date) -> datetime:
    return datetime.combine(day, moment_of_day.min, UTC)
