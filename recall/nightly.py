"""The nightly compaction of agents whose turns are indexed one by one: summaries take the place of the turns.

A session that nobody has used for a day is summarised, without being ended; then the turns that a summary
tells of leave recall. The log keeps them.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from recall.indexing_turns import close_told, close_told_of
from recall.summarising import keep_summary, tell, wants_summaries
from recall.told import running_summary
from tenants.errors import NotFound
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import system_caller
from tenants.tombstones import Erased
from working.ending import summarise_session
from working.models import Session
from working.quiet import agents_of, tenants_with_policies, unsummarised_sessions
from working.spans import Span

COMPACT = "session.compact"
QUIET = timedelta(days=1)


def compact_tenants(*, now: datetime) -> int:
    """Records a job for each session that is to be summarised, and takes turns out of recall that older
    summaries tell of; how many of both. A named cross-tenant job; safe to run several times at once."""
    done = 0
    for tenant_id in tenants_with_policies():
        if any(_indexes(tenant_id, agent_id) for agent_id in agents_of(tenant_id)):
            done += _have_summarised(tenant_id, now) + close_told(tenant_id=tenant_id, now=now)
    return done


def compact_session(*, tenant_id: UUID, session_id: UUID, now: datetime) -> bool:
    """Summarises the session's new turns if nobody has used it for a day; whether it did."""
    with scope(tenant_id):
        session = Session.objects.filter(tenant_id=tenant_id, id=session_id).first()
    caller = system_caller(tenant_id)

    def summarise(locked: Session, span: Span) -> str | None:
        return tell(caller=caller, session=locked, span=span, now=now) if wants_summaries(locked) else None

    def keep(locked: Session, span: Span, text: str) -> str:
        keep_summary(caller=caller, session=locked, span=span, text=text, now=now)
        return running_summary(locked) if locked.compacted_seq or locked.lead else text

    try:
        return session is not None and summarise_session(
            caller=caller,
            session=session,
            now=now,
            summarise=summarise,
            keep=keep,
            only_if=lambda locked: _is_quiet(locked, now),
        )
    except (NotFound, Erased):  # deleted or erased in this moment
        return False


def compact_kind() -> Kind:
    """The job that summarises a session. All of it is preparation: Redis is told before the commit and after
    it. Then its turns leave recall, in the commit that ends the job."""

    def prepare(task: Task) -> None:
        session_id = UUID(task.payload["session"])
        compact_session(tenant_id=task.tenant_id, session_id=session_id, now=timezone.now())

    def apply(task: Task, prepared: Any) -> None:
        session = Session.objects.filter(tenant_id=task.tenant_id, id=task.payload["session"]).first()
        if session is not None:
            close_told_of(session=session, now=timezone.now())

    return Kind(COMPACT, apply, prepare=prepare, slow=True)


def _indexes(tenant_id: UUID, agent_id: str) -> bool:
    return read_policy(tenant_id=tenant_id, agent_id=agent_id).episodes.index_turns


def _is_quiet(session: Session, now: datetime) -> bool:
    is_new = session.summarised_seq < session.last_seq
    return (
        is_new and session.last_activity_at <= now - QUIET and _indexes(session.tenant_id, session.agent_id)
    )


def _have_summarised(tenant_id: UUID, now: datetime) -> int:
    recorded = 0
    for page in unsummarised_sessions(tenant_id=tenant_id, unused_since=now - QUIET):
        due = [session for session in page if _is_quiet(session, now) and wants_summaries(session)]
        with scope(tenant_id):
            for session in due:
                key = str(session.id)
                enqueue(COMPACT, payload={"session": key}, now=now, user_id=session.user_id, dedup_key=key)
        recorded += len(due)
    return recorded
