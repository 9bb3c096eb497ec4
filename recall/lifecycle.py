"""Sessions that nobody ends: found when they are idle or too old, and ended as if somebody had.

Redis says cheaply which sessions were used when; PostgreSQL decides, and finds what Redis has lost. The sweep
only records jobs; each job looks again, with the session locked, before it ends anything.
"""

import logging
import random
import time
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from ledger.injections import with_items
from recall.sessions import wind_up
from tenants.errors import NotFound
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.models import Job, JobState
from tenants.scope import scope
from tenants.system import system_caller
from tenants.tombstones import Erased
from working import activity
from working.idle import (
    find_sessions,
    is_due,
    learn_activity,
    moments_of,
    overdue_sessions,
    tenants_to_search,
)
from working.models import Session
from working.redis import RedisAway
from working.sessions import ref_of
from working.types import SessionRef

log = logging.getLogger(__name__)
END_IDLE = "session.end_idle"
BATCH = 500  # sessions looked at together
STRETCH = 5.0  # seconds for what Redis says is due
SEARCH = 1.0  # seconds for the search in PostgreSQL, which begins with another tenant each time


def sweep_sessions(*, now: datetime) -> bool:
    """Has the sessions ended that are idle or too old; whether there are more than it had time for.

    A named cross-tenant job. Safe to run several times at once. Does nothing while Redis is away.
    """
    try:
        more = _sweep_due(now, time.monotonic() + STRETCH)
        _search(now, time.monotonic() + SEARCH)
    except RedisAway:
        log.warning("sweep_skipped: Redis is away")
        return False
    return more


def end_idle_session(*, tenant_id: UUID, session_id: UUID, now: datetime) -> bool:
    """Ends the session if it still is idle or too old; whether it did."""
    with scope(tenant_id):
        session = Session.objects.filter(tenant_id=tenant_id, id=session_id).first()
    if session is None:
        return False
    (moment,) = moments_of([session])

    def still_due(one: Session) -> bool:
        return is_due(one, now=now, idle_from=moment)

    if not still_due(session):
        return False
    caller = system_caller(tenant_id)
    try:
        ended = wind_up(caller=caller, session=session, now=now, cause="idle", only_if=still_due)
    except (NotFound, Erased):  # deleted or erased in this moment
        return False
    return ended is not None


def end_idle_kind() -> Kind:
    """The job that ends a session. All of it is preparation: Redis is told before the commit and after it."""

    def prepare(task: Task) -> None:
        session_id = UUID(task.payload["session"])
        end_idle_session(tenant_id=task.tenant_id, session_id=session_id, now=timezone.now())

    def apply(task: Task, prepared: Any) -> None:
        """Nothing is left to do."""

    return Kind(END_IDLE, apply, prepare=prepare, slow=True, urgent=True)


def _sweep_due(now: datetime, until: float) -> bool:
    """What the sorted set says is due; whether there is more."""
    while time.monotonic() < until:
        refs = activity.due(now=now.timestamp(), limit=BATCH)
        for tenant_id, group in groupby(sorted(refs, key=_by_tenant), key=_by_tenant):
            _judge(tenant_id, list(group), now)
        if refs:  # now, as their jobs are committed
            activity.drop(refs=refs, now=now.timestamp())
        if len(refs) < BATCH:
            return False
    return True


_by_tenant = attrgetter("tenant_id")


def _judge(tenant_id: UUID, refs: list[SessionRef], now: datetime) -> None:
    """A job for each that is due by PostgreSQL, too, and for ended ones that were told something since."""
    sessions = find_sessions(tenant_id=tenant_id, refs=refs)
    over = [session for session in sessions if session.ended_at is not None]
    told = with_items(tenant_id=tenant_id, refs=[ref_of(session) for session in over]) if over else set()
    due, later = [], {}
    for session in sessions:
        if not is_due(session, now=now, idle_from=None):
            idle = activity.idle_seconds(tenant_id, session.agent_id)
            later[ref_of(session)] = session.last_activity_at.timestamp() + idle
        elif session.ended_at is None or ref_of(session) in told:
            due.append(session)
    activity.correct(later)
    _have_ended(tenant_id, due, now)


def _search(now: datetime, until: float) -> None:
    """What Redis does not know: sessions that PostgreSQL has not seen in use for long, and too old ones."""
    complete_since = activity.complete_since(now=now.timestamp())
    tenants = tenants_to_search(now=now)
    first = random.randrange(len(tenants)) if tenants else 0  # noqa: S311  fairness, no secret
    for tenant_id in tenants[first:] + tenants[:first]:
        for page in overdue_sessions(tenant_id=tenant_id, now=now, kind=END_IDLE):
            _judge_page(tenant_id, page, now, complete_since)
            if time.monotonic() > until:
                return


def _judge_page(tenant_id: UUID, page: list[Session], now: datetime, complete_since: float) -> None:
    moments = moments_of(page)
    learn_activity(sessions=page, moments=moments, now=now)
    due = []
    for session, moment in zip(page, moments, strict=True):
        # What is missing may be in use as long as not every use since then has been noted.
        idle = activity.idle_seconds(tenant_id, session.agent_id)
        unknown_until = complete_since + idle if moment is None else moment
        if is_due(session, now=now, idle_from=unknown_until):
            due.append(session)
    _have_ended(tenant_id, due, now)


def _have_ended(tenant_id: UUID, sessions: Sequence[Session], now: datetime) -> None:
    """A job for each session that has none; one whose job has failed for good waits for a person, or for
    further use of the session."""
    if not sessions:
        return
    with scope(tenant_id):
        given_up = Job.objects.filter(
            Q(dedup_key__in=[str(session.id) for session in sessions]),
            tenant_id=tenant_id,
            kind=END_IDLE,
            state=JobState.FAILED,
        )
        failed_at = dict(given_up.order_by("created_at").values_list("dedup_key", "created_at"))
        for session in sessions:
            key = str(session.id)
            if key in failed_at and failed_at[key] >= session.last_activity_at:
                continue
            enqueue(END_IDLE, payload={"session": key}, now=now, user_id=session.user_id, dedup_key=key)
