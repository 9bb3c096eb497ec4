"""The append-only log of a session: PostgreSQL first, then Redis."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenants import idempotency
from tenants.caller import Caller
from tenants.scope import scope, undecided
from tenants.tombstones import refuse_erased
from working import querysets, store
from working.models import Event, Session
from working.sessions import access_session, adopt, confine, exact_ref, open_session, ref_of
from working.types import NewEvent, SessionAddress, SessionRef, StoredEvent, Turn

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
) -> Appended:
    """Adds events to the session's log, creating the session if it is new.

    An event whose external id the session has seen is a duplicate and left out. When this returns, the
    events are committed. Raises RedisAway when Redis does not answer: nothing is written then, since a
    window that Redis kept through the outage would miss these events.
    """
    agent, named_project = caller.confine_agent(agent_id), caller.confine_project(project)
    distinct = _distinct(events)
    token = secrets.token_hex(8)
    ref = _marked(caller, address, now, token, agent_id, project)
    try:
        appended, stored = _commit(caller, ref, distinct, agent, named_project, now, len(events))
    except BaseException as error:
        # Perhaps it is committed all the same: then the mark stays, and PostgreSQL answers until it dies.
        if not undecided(error):
            store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=None)
        raise
    session = appended.session
    entries = [entry_of(one.seq, one.event) for one in stored if one.event.role]
    committed = store.Committed(
        seq=(session.last_seq, session.last_seq + len(stored)),
        agent_id=session.agent_id,
        project=session.project,
        entries=entries,
    )
    store.settle(caller=caller, ref=ref, now=now.timestamp(), token=token, committed=committed)
    return appended


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
    """The newest `limit` turns, oldest first, from PostgreSQL. Runs inside the caller's scope."""
    found = Event.objects.filter(tenant_id=session.tenant_id, session_id=session.id).exclude(role="")
    return [turn_of(event, event.seq) for event in reversed(found.order_by("-seq")[:limit])]


def turns_between(*, session: Session, first: int, last: int) -> list[Turn]:
    """The turns numbered `first` to `last`, of very many the first and the newest. In the caller's scope."""
    found = Event.objects.filter(
        tenant_id=session.tenant_id, session_id=session.id, seq__gte=first, seq__lte=last
    ).exclude(role="")
    newest = list(found.order_by("-seq")[:NEWEST_TURNS])
    if len(newest) == NEWEST_TURNS:
        newest += reversed(found.filter(seq__lt=newest[-1].seq).order_by("seq")[:FIRST_TURNS])
    return [turn_of(event, event.seq) for event in reversed(newest)]


def turn_of(event: Event | NewEvent, seq: int) -> Turn:
    """An event as a turn."""
    return Turn(seq=seq, role=event.role, content=event.content, **(event.tool or {}))


def entry_of(seq: int, event: NewEvent | Turn) -> str:
    """A turn as the Redis list holds it: the chat message, plus its number."""
    turn = event if isinstance(event, Turn) else turn_of(event, seq)
    message = turn.message()
    return json.dumps({"seq": seq, **message}, ensure_ascii=False, separators=(",", ":"))


def parse_entry(entry: str) -> Turn:
    """The turn behind an entry of the Redis list."""
    return Turn(**json.loads(entry))


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
    caller: Caller,
    address: SessionAddress,
    now: datetime,
    token: str,
    agent_id: str | None,
    project: str | None,
) -> SessionRef:
    """The session's identity, with the mark set that precedes a commit."""
    ref = exact_ref(caller, address)
    if store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token):
        return ref
    session, _created = open_session(
        caller=caller, address=address, now=now, agent_id=agent_id, project=project
    )
    return adopt_marked(caller=caller, session=session, now=now, token=token)


def adopt_marked(*, caller: Caller, session: Session, now: datetime, token: str) -> SessionRef:
    """Makes the session known to Redis, with the mark set that precedes a commit."""
    adopt(session, now)
    ref = ref_of(session)
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token=token)
    return ref


def _commit(
    caller: Caller,
    ref: SessionRef,
    events: Sequence[NewEvent],
    agent_id: str,
    project: str,
    now: datetime,
    given: int,
) -> tuple[Appended, list[StoredEvent]]:
    """One short transaction. `session.last_seq` is the number before these events."""
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=now)
        session, _created = querysets.open_session(
            ref=ref, agent_id=agent_id, project=project, metadata={}, now=now
        )
        confine(caller, session)
        stored, turn_count = querysets.append_events(session=session, events=events, now=now)
        appended = Appended(
            session=session,
            numbers=tuple(one.seq for one in stored),
            accepted=len(stored),
            duplicates=given - len(stored),
            turn_count=turn_count,
        )
        idempotency.keep(appended, user_id=session.user_id)
    return appended, stored
