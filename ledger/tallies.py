"""What a tenant's ledger adds up to: writes that were not done, by reason, and verdicts, by day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from django.db.models import Count, Q
from django.db.models.functions import TruncDate

from ledger import querysets
from ledger.models import Feedback
from tenants.scope import scope

MOST = 100_000  # the newest that are counted


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """How many writes were not done for one reason, and how many of these wait for somebody to decide."""

    reason: str
    count: int
    held: int


@dataclass(frozen=True, slots=True)
class DayOfVerdicts:
    """The verdicts of one day (UTC)."""

    day: date
    count: int
    helpful: int


def decisions_by_reason(*, tenant_id: UUID, since: datetime) -> list[ReasonCount]:
    """The writes since then that were refused or held back, the commonest reason first; exact up to the
    newest 100,000."""
    with scope(tenant_id):
        rows = querysets.reasons(tenant_id=tenant_id, since=since, most=MOST)
    found = [ReasonCount(*row) for row in rows]
    return sorted(found, key=lambda one: (-one.count, one.reason))


def verdicts_by_day(*, tenant_id: UUID, since: datetime) -> Mapping[date, DayOfVerdicts]:
    """The days since then on which somebody judged a memory."""
    with scope(tenant_id):
        recent = Feedback.objects.filter(tenant_id=tenant_id, created_at__gte=since).order_by()
        days = recent.annotate(day=TruncDate("created_at")).values_list("day")
        helpful = Count("id", filter=Q(verdict=Feedback.Verdict.HELPFUL))
        found = [DayOfVerdicts(*row) for row in days.annotate(count=Count("id"), helpful=helpful)]
    return {one.day: one for one in found}
