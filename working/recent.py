"""What goes on in a tenant's sessions, without what is said in them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tenants.scope import scope
from working.models import Event, Session

MOST = 100_000  # counted no further than this


@dataclass(frozen=True, slots=True)
class RecentEvent:
    """That something happened in a session; `session_id` is our id of it."""

    session_id: UUID
    session: str
    seq: int
    event_type: str
    role: str
    at: datetime


def count_active(*, tenant_id: UUID, since: datetime) -> int:
    """Sessions under way that were used since then; exact up to 100,000."""
    with scope(tenant_id):
        active = Session.objects.filter(tenant_id=tenant_id, ended_at=None, last_activity_at__gte=since)
        return active.order_by()[:MOST].count()


def recent_events(*, tenant_id: UUID, limit: int) -> list[RecentEvent]:
    """What was recorded last, newest first."""
    with scope(tenant_id):
        newest = Event.objects.filter(tenant_id=tenant_id).order_by("-recorded_at", "-id")[:limit]
        rows = list(newest.values_list("session_id", "seq", "event_type", "role", "recorded_at"))
        theirs = Session.objects.filter(tenant_id=tenant_id, id__in={row[0] for row in rows})
        names = dict(theirs.values_list("id", "external_id"))
    return [
        RecentEvent(session_id, names[session_id], seq, event_type, role, at)
        for session_id, seq, event_type, role, at in rows
        if session_id in names
    ]
