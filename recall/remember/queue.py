"""Remembering turns after they have come in, where the policy says so: by a job, pair by pair."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from recall.remember.remember import Prepared, Source, prepare, write_prepared
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.system import system_caller
from working.events import spoken_between
from working.models import Event, Session

REMEMBER = "session.remember"
AT_ONCE = 50  # events of one job: a model takes seconds for each pair in them


@dataclass(frozen=True, slots=True)
class _Pair:
    """One of the user's turns with what was answered to it."""

    seq: int
    question: str
    said_at: datetime
    replies: list[str] = field(default_factory=list)


def enqueue_remember(*, session: Session, first_seq: int, last_seq: int, now: datetime) -> None:
    """Has the turns numbered `first_seq` to `last_seq` remembered if `write.on_turn` is on, in the open
    scope. Of nobody's turns nothing is remembered."""
    policy = read_policy(tenant_id=session.tenant_id, agent_id=session.agent_id)
    if not policy.write.on_turn or not session.user_id:
        return
    for first in range(first_seq, last_seq + 1, AT_ONCE):
        last = min(first + AT_ONCE - 1, last_seq)
        payload = {"session": str(session.id), "first": first, "last": last, "append": first_seq}
        enqueue(REMEMBER, payload=payload, now=now, user_id=session.user_id)


def remember_kind() -> Kind:
    """The job that remembers a span of turns. What was remembered before is found again, and not doubled. In
    the order in which they were said: what takes something back or adds to it needs what was said before."""
    return Kind(REMEMBER, _apply, prepare=_prepare, slow=True, in_order=True)


def _prepare(task: Task) -> list[tuple[datetime, Prepared]]:
    """When each of the user's turns was said, and what is in it. Extracts outside of any scope; nothing if
    the session is gone or the policy has changed its mind."""
    with scope(task.tenant_id):
        session = Session.objects.filter(tenant_id=task.tenant_id, id=task.payload["session"]).first()
        if session is None or session.user_id != task.user_id:
            return []
        said = spoken_between(session=session, first=task.payload["first"], last=task.payload["last"])
    if not read_policy(tenant_id=task.tenant_id, agent_id=session.agent_id).write.on_turn:
        return []
    now = timezone.now()
    return [
        (one.said_at, _prepared(session, one, now))
        for one in _pairs(said, since=task.payload.get("append", task.payload["first"]))
    ]


def _prepared(session: Session, pair: _Pair, now: datetime) -> Prepared:
    return prepare(
        source=_source(session, pair.seq),
        user_message=pair.question,
        assistant_message="\n".join(pair.replies),
        now=now,
    )


def _apply(task: Task, prepared: list[tuple[datetime, Prepared]]) -> None:
    """In the scope that ends the job, which has asked already whether the person was erased. What is found
    counts from when it was said: meanwhile somebody else may have written, and a dead letter that is replayed
    comes after its turn."""
    now = timezone.now()
    for said_at, one in prepared:
        write_prepared(prepared=one, now=now, said_at=said_at)


def _source(session: Session, seq: int) -> Source:
    return Source(
        caller=system_caller(session.tenant_id),
        user_id=session.user_id,
        session_id=session.external_id,
        namespace=session.namespace,
        agent_id=session.agent_id,
        project=session.project,
        turn=seq,
    )


def _pairs(said: Iterable[Event], *, since: int) -> list[_Pair]:
    """`since` is the number of the first event of the append: all of it was recorded at one moment, and later
    turns are told apart by their numbers."""
    pairs: list[_Pair] = []
    for event in said:
        text: object = event.content
        if not isinstance(text, str):
            continue
        if event.role == "user":
            said_at = event.recorded_at + timedelta(microseconds=event.seq - since)
            pairs.append(_Pair(event.seq, text, said_at))
        elif pairs:
            pairs[-1].replies.append(text)
    return pairs
