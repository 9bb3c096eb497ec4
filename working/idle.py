"""Which sessions are idle or too old, by what PostgreSQL knows."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from tenants.policy.reading import read_policy
from tenants.router import admin_role
from tenants.scope import scope
from working import activity, querysets
from working.models import Session
from working.sessions import ref_of
from working.types import SessionRef

SHORTEST_IDLE = timedelta(seconds=60)  # that a policy may set
LATER = 0.1  # of the idle time: by then, the sorted set has told of those that it knows
PAGE = 500


def is_due(session: Session, *, now: datetime, idle_from: float | None) -> bool:
    """Whether the session is to be ended: idle by both PostgreSQL and `idle_from`, the moment that Redis
    knows, or open for longer than its policy allows."""
    held = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id).session
    if session.ended_at is None and session.opened_at <= now - timedelta(seconds=held.max_age_seconds):
        return True
    if idle_from is not None and idle_from > now.timestamp():
        return False
    return session.last_activity_at <= now - timedelta(seconds=held.idle_seconds)


def find_sessions(*, tenant_id: UUID, refs: Sequence[SessionRef]) -> list[Session]:
    """Those of the sessions that exist."""
    with scope(tenant_id):
        return querysets.sessions_at(tenant_id=tenant_id, refs=refs)


def tenants_to_search(*, now: datetime) -> list[UUID]:
    """Tenants that may have an open session that is idle or too old. Asks as the admin role."""
    with admin_role():
        return querysets.tenants_with_open_session(before=now - SHORTEST_IDLE)


def overdue_sessions(*, tenant_id: UUID, now: datetime, kind: str) -> Iterator[list[Session]]:
    """Open sessions that PostgreSQL has not seen in use for a while, and those that are too old, in pages.

    Without those for which a job of that kind waits, or has failed for good since they were used.
    """
    held = _shortest(tenant_id)
    unused_since = now - timedelta(seconds=held[0] * (1 + LATER))
    yield from _pages(tenant_id, kind, "last_activity_at", unused_since)
    yield from _pages(tenant_id, kind, "opened_at", now - timedelta(seconds=held[1]))


def last_use(session: Session, moment: float | None) -> datetime:
    """When the session was last used, by PostgreSQL and by `moment`, from which Redis counts it as idle."""
    if moment is None:
        return session.last_activity_at
    idle = activity.idle_seconds(session.tenant_id, session.agent_id)
    return max(session.last_activity_at, datetime.fromtimestamp(activity.used_at(moment, idle), UTC))


def learn_activity(*, sessions: Sequence[Session], moments: Sequence[float | None], now: datetime) -> None:
    """Has PostgreSQL know of uses that only Redis saw: `moments` are those from which the sessions count as
    idle. Otherwise they would be searched again and again."""
    used = {}
    for session, moment in zip(sessions, moments, strict=True):
        if session.last_activity_at < (at := last_use(session, moment)) <= now:
            used[session.id] = at
    if used:
        with scope(sessions[0].tenant_id):
            querysets.note_activity(tenant_id=sessions[0].tenant_id, used=used)


def moments_of(sessions: Sequence[Session]) -> list[float | None]:
    """From which moment each counts as idle, by Redis; None where it does not know. Raises RedisAway."""
    return activity.idle_from([ref_of(session) for session in sessions])


def _shortest(tenant_id: UUID) -> tuple[int, int]:
    """The shortest idle time and maximum age of the tenant's agents."""
    with scope(tenant_id):
        names = ["", *querysets.agents_with_policies(tenant_id)]
    held = [read_policy(tenant_id=tenant_id, agent_id=name).session for name in names]
    return min(one.idle_seconds for one in held), min(one.max_age_seconds for one in held)


def _pages(tenant_id: UUID, kind: str, column: querysets.Moment, before: datetime) -> Iterator[list[Session]]:
    """Open sessions with `column` before that moment, oldest first."""
    after = None
    while True:
        with scope(tenant_id):
            page = querysets.open_sessions_without_job(
                tenant_id=tenant_id, kind=kind, column=column, before=before, after=after, limit=PAGE
            )
        if page:
            yield page
        if len(page) < PAGE:
            return
        after = page[-1]
