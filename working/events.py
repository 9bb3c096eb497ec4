"""The append-only log of a session: PostgreSQL first, then Redis."""

import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.scope import scope, undecided
from tenants.tombstones import refuse_erased
from working import querysets, store
from working.entries import entry_of, turn_of
from working.models import Event, Session
from working.sessions import access_session, adopt, confine, exact_ref, open_session, ref_of
from working.types import Compacted, NewEvent, SessionAddress, SessionRef, StoredEvent, Turn
from working.unlogged import held_turns, keeps_log, number_events

ROLE_EVENTS = {
    "user": "user_message",
    "assistant": "agent_response",
    "system": "system_message",
    "tool": "tool_result",
}
# What somebody said is a turn, also when it comes as an event. Calls and results need their ids to be one.
SPOKEN = {"user_message": "user", "agent_response": "assistant", "system_message": "system"}
NEWEST_TURNS, FIRST_TURNS = 900, 100  # of a conversation to be summarised


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: `numbers` are those of the accepted events."""

    session: Session
    numbers: tuple[int, ...]
    accepted: int
    duplicates: int
    turn_count: int


@dataclass(frozen=True, slots=True)
class Written:
    """What an append has written, before its commit: the locked session as it was before, and the events as
    they are stored. `held`: without a log, the turns that Redis held before; else None. `at`: the moment of
    the change. `withdrawn`: the numbers of turns that no window shows any more."""

    session: Session
    appended: Appended
    stored: Sequence[StoredEvent]
    held: Sequence[Turn] | None
    at: datetime
    withdrawn: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class _Batch:
    """Each event once, and how many were given; agent and project as the caller is confined to."""

    events: Sequence[NewEvent]
    given: int
    agent_id: str
    project: str
    now: datetime


def _nothing_else(written: Written) -> Compacted | None:
    return None


def event_type_of(role: str, tool_calls: Any) -> str:
    """The event type of a turn."""
    return "tool_call" if role == "assistant" and tool_calls else ROLE_EVENTS[role]


def role_of(event_type: str, content: Any) -> str:
    """The role of an event that is a turn; empty for any other."""
    return SPOKEN.get(event_type, "") if isinstance(content, str) else ""


def append_events(
    *,
    caller: Caller,
    address: SessionAddress,
    events: Sequence[NewEvent],
    now: datetime,
    agent_id: str | None = None,
    project: str | None = None,
    also: Callable[[Written], Compacted | None] = _nothing_else,
    only_if: Callable[[Session], bool] | None = None,
) -> Appended:
    """Adds events to the session's log, creating the session if it is new, or, with `only_if`, to one that
    is there and passes it with its row locked: else NotFound is raised, and nothing is written.

    An event whose external id the session has seen is a duplicate and left out. When this returns, the
    events are committed, together with what `also` did, which may leave older ones to a summary. With the
    log switched off they are counted, and the turns are in Redis alone. Raises RedisAway when Redis does not
    answer: nothing is written then, since a window that Redis kept through the outage would miss these
    events.
    """
    batch = _Batch(
        _distinct(events), len(events), caller.confine_agent(agent_id), caller.confine_project(project), now
    )
    token = secrets.token_hex(8)
    ref, agent = _marked(caller, address, batch, token, creates=only_if is None)
    settle = partial(store.settle, caller=caller, ref=ref, now=now.timestamp(), token=token)
    try:
        is_logged = keeps_log(tenant_id=ref.tenant_id, agent_id=agent)
        held = [] if is_logged else held_turns(caller=caller, ref=ref, now=now)
        written, compacted = _commit(caller, ref, batch, held, also, only_if)
    except BaseException as error:
        # Perhaps it is committed all the same: then the mark stays, and PostgreSQL answers until it dies.
        if not undecided(error):
            settle(committed=None)
        raise
    settle(committed=_committed(written, compacted))
    return written.appended


def _committed(written: Written, compacted: Compacted | None) -> store.Committed:
    session, unlogged = written.session, written.held is not None
    return store.Committed(
        seq=(session.last_seq, session.last_seq + len(written.stored)),
        agent_id=session.agent_id,
        project=session.project,
        entries=[entry_of(one.seq, one.event, unlogged=unlogged) for one in written.stored if one.event.role],
        summary=compacted.summary if compacted else None,
        turn_count=written.appended.turn_count,
        compacted=session.compacted_seq,
        unlogged=unlogged,
    )


def list_events(
    *, caller: Caller, address: SessionAddress, event_types: Sequence[str], after: int, limit: int
) -> list[Event]:
    """Events with a number above `after`, oldest first."""
    session = access_session(caller=caller, address=address)
    with scope(caller.tenant_id):
        found = Event.objects.filter(tenant_id=caller.tenant_id, session_id=session.id, seq__gt=after)
        if event_types:
            found = found.filter(event_type__in=event_types)
        return list(found.order_by("seq")[:limit])


def newest_turns(*, session: Session, limit: int) -> list[Turn]:
    """The newest `limit` turns that are not left to the summary, oldest first, from PostgreSQL. Runs inside
    the caller's scope."""
    found = session.logged_turns().filter(seq__gt=session.compacted_seq)
    return [turn_of(event, event.seq) for event in reversed(found.order_by("-seq")[:limit])]


def turns_between(*, session: Session, first: int, last: int) -> list[Turn]:
    """The turns numbered `first` to `last`, of very many the first and the newest. In the caller's scope."""
    found = session.logged_turns().filter(seq__gte=first, seq__lte=last)
    newest = list(found.order_by("-seq")[:NEWEST_TURNS])
    if len(newest) == NEWEST_TURNS:
        newest += reversed(found.filter(seq__lt=newest[-1].seq).order_by("seq")[:FIRST_TURNS])
    return [turn_of(event, event.seq) for event in reversed(newest)]


def spoken_between(*, session: Session, first: int, last: int) -> list[Event]:
    """What user and assistant said in the events numbered `first` to `last`. In the caller's scope."""
    found = session.logged_turns().filter(seq__gte=first, seq__lte=last)
    return list(found.filter(role__in=("user", "assistant")).order_by("seq"))


def _distinct(events: Sequence[NewEvent]) -> list[NewEvent]:
    """Each external id once: the first wins."""
    seen: set[str] = set()
    distinct = []
    for event in events:
        if event.external_id is not None:
            if event.external_id in seen:
                continue
            seen.add(event.external_id)
        distinct.append(event)
    return distinct


def _marked(
    caller: Caller, address: SessionAddress, batch: _Batch, token: str, *, creates: bool
) -> tuple[SessionRef, str]:
    """The session's identity and agent, with the mark set that precedes a commit."""
    ref = exact_ref(caller, address)
    if known := store.mark(caller=caller, ref=ref, now=batch.now.timestamp(), token=token):
        return ref, known.agent_id or batch.agent_id
    if creates:
        session, _created = open_session(
            caller=caller, address=address, now=batch.now, agent_id=batch.agent_id, project=batch.project
        )
    else:
        session = access_session(caller=caller, address=address)
    return adopt_marked(caller=caller, session=session, now=batch.now, token=token), session.agent_id


def adopt_marked(*, caller: Caller, session: Session, now: datetime, token: str) -> SessionRef:
    """Makes the session known to Redis, with the mark set that precedes a commit."""
    adopt(session, now)
    ref = ref_of(session)
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token)
    return ref


def _commit(
    caller: Caller,
    ref: SessionRef,
    batch: _Batch,
    held: Sequence[Turn],
    also: Callable[[Written], Compacted | None],
    only_if: Callable[[Session], bool] | None,
) -> tuple[Written, Compacted | None]:
    """One short transaction. `session.last_seq` is the number before these events."""
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=batch.now)
        session, created = querysets.open_session(
            ref=ref, agent_id=batch.agent_id, project=batch.project, metadata={}, now=batch.now
        )
        confine(caller, session)
        if only_if is not None and (created or not only_if(session)):
            raise NotFound("There is no such session.")
        is_logged = keeps_log(tenant_id=session.tenant_id, agent_id=session.agent_id)
        at = session.moment_of_change(batch.now)
        if is_logged:
            stored, turn_count = querysets.append_events(session=session, events=batch.events, now=at)
        else:
            stored, turn_count = number_events(session=session, events=batch.events, held=held, now=at)
        appended = Appended(
            session=session,
            numbers=tuple(one.seq for one in stored),
            accepted=len(stored),
            duplicates=batch.given - len(stored),
            turn_count=turn_count,
        )
        written = Written(session, appended, stored, None if is_logged else held, at)
        idempotency.keep(appended, user_id=session.user_id)
        compacted = also(written)
    return written, compacted
