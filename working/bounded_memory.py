"""KAOS's memory of an agent: its newest sessions, and of each the newest events. What it lets go of stays in
the log, where every other door still finds it."""

import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db import transaction

from tenants import idempotency
from tenants.agents.reading import read_agent
from tenants.caller import Caller
from tenants.errors import Conflict
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from working import bounded_queries, querysets
from working.bounded_queries import Bound, Narrow
from working.models import Event, Session
from working.sessions import confine, refuse_hidden, the_one_meant
from working.types import SessionAddress, SessionRef

NAMESAKES = 100  # sessions of one id whose events are told together
NO_SESSION = "null-session"  # what a session is called that nobody keeps
APP_NAME = "app_name"  # in a session's metadata: what its client calls its agent
SPOKEN = {"user_message": "User", "agent_response": "Assistant"}


@dataclass(frozen=True, slots=True)
class BoundedMemory:
    """The memory of an agent as the caller reaches it; '': of all agents within the key's reach, each within
    its own bounds."""

    caller: Caller
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an agent's memory is allowed; not `enabled`: it keeps nothing and has nothing."""

    enabled: bool
    context: int
    sessions: int
    events: int


@dataclass(frozen=True, slots=True)
class Begun:
    """The id of a session that was begun or found."""

    session_id: str


@dataclass(frozen=True, slots=True)
class CleanedMemory:
    """How many sessions were let go of."""

    removed: int


@dataclass(frozen=True, slots=True)
class Figures:
    """How much a memory has."""

    sessions: int
    events: int


def bounds_of(memory: BoundedMemory, agent_id: str = "") -> Bounds:
    """The bounds of the memory, or of one of its agents: as declared of that agent, else the settings'."""
    agent = read_agent(tenant_id=memory.caller.tenant_id, name=agent_id or memory.agent_id)
    if agent is not None and (declared := agent.kaos) is not None:
        return Bounds(
            enabled=declared.enabled,
            context=declared.context_limit,
            sessions=declared.max_sessions,
            events=declared.max_session_events,
        )
    return Bounds(
        enabled=settings.MEMORY_ENABLED,
        context=settings.MEMORY_CONTEXT_LIMIT,
        sessions=settings.MEMORY_MAX_SESSIONS,
        events=settings.MEMORY_MAX_SESSION_EVENTS,
    )


def begin_session(
    *,
    memory: BoundedMemory,
    app_name: str,
    address: SessionAddress,
    only_if_missing: bool,
    now: datetime,
) -> Begun:
    """An empty session of that id, or of a new one where the address names none, in the place of the one that
    the memory has; with `only_if_missing`, that one. Room is made for it first, as KAOS's `LocalMemory` does.

    `app_name` is the agent where the memory is not an agent's. Where another agent has begun this session,
    and no namespace is named, it begins in one that is called as the agent is. Raises Conflict when that,
    or the one named, has it as another agent's.
    """
    caller, agent_id = memory.caller, memory.agent_id or app_name
    user_id, bounds = caller.confine_user(address.user_id), bounds_of(memory, agent_id)
    if not bounds.enabled:
        return _begin_nothing(caller, user_id, address)
    begun = Begun(address.session_id or f"session_{secrets.token_hex(6)}")
    ref = SessionRef(caller.tenant_id, address.namespace or "", user_id, begun.session_id)
    if not ref.user_id and not _is_stored(ref):
        refuse_hidden(ref, address)
    with scope(ref.tenant_id):
        refuse_erased(tenant_id=ref.tenant_id, user_id=ref.user_id, since=now)
        bounded_queries.lock_id(tenant_id=ref.tenant_id, session_id=ref.session_id)
        if not (only_if_missing and _is_there(memory, ref)):
            bound = Bound(agent_id, bounds.sessions, bounds.events)
            spaces = (ref.namespace,) if address.namespace else (ref.namespace, agent_id)
            _begin(memory, bound, [replace(ref, namespace=one) for one in spaces], app_name, now)
        idempotency.keep(begun, user_id=ref.user_id)
    return begun


def find_session(*, memory: BoundedMemory, session_id: str, narrow: Narrow) -> Session | None:
    """The known session of that id, as `working.sessions.find_session` chooses among several."""
    with scope(memory.caller.tenant_id):
        found = _named(memory, session_id, narrow)
        return found if found is None or bounds_of(memory, found.agent_id).enabled else None


def session_events(
    *, memory: BoundedMemory, session: Session, event_types: Sequence[str] = (), limit: int | None = None
) -> list[Event]:
    """The events that the memory has of the session, those types' alone if there are any; the last `limit`,
    in the order in which they came."""
    with scope(session.tenant_id):
        most = bounds_of(memory, session.agent_id).events
        found = Event.objects.filter(
            tenant_id=session.tenant_id,
            session_id=session.id,
            seq__gt=session.let_go_seq,
            withdrawn_at__isnull=True,
        )
        newest = list(found.order_by("-seq")[: most if limit is None or event_types else min(most, limit)])
    wanted = [event for event in newest if not event_types or event.event_type in event_types]
    return wanted[:limit][::-1]


def newest_events(*, memory: BoundedMemory, narrow: Narrow, limit: int) -> list[tuple[str, Event]]:
    """The last `limit` events of all sessions, one session after another in the order of their places; each
    with its session's id."""
    with scope(memory.caller.tenant_id):
        found = bounded_queries.newest_events(
            caller=memory.caller, bounds=_bounds(memory), narrow=narrow, limit=limit
        )
    return found[::-1]


def events_named(*, memory: BoundedMemory, session_id: str, narrow: Narrow, limit: int) -> list[Event]:
    """The last `limit` events of the session of that id; where agents, users or namespaces have several, of
    the `NAMESAKES` of them used last, one session after another in the order of their places."""
    caller, told = memory.caller, list[Event]()
    with scope(caller.tenant_id):
        found = bounded_queries.sessions_named(
            caller=caller, agent_id=memory.agent_id, session_id=session_id, narrow=narrow
        )
        newest = list(found.order_by("-last_activity_at", "-id")[:NAMESAKES])
        mine = [one for one in newest if bounds_of(memory, one.agent_id).enabled]
    for session in sorted(mine, key=lambda one: (one.place, one.id), reverse=True):
        if len(told) < limit:
            told[:0] = session_events(memory=memory, session=session, limit=limit - len(told))
    return told


def session_ids(*, memory: BoundedMemory, narrow: Narrow) -> list[str]:
    """The ids of the sessions, each once, in the order of their places."""
    with scope(memory.caller.tenant_id):
        return bounded_queries.ids_in(caller=memory.caller, bounds=_bounds(memory), narrow=narrow)


def memory_figures(*, memory: BoundedMemory, narrow: Narrow) -> Figures:
    """How many sessions and events there are: up to a second where both bounds are reached."""
    with scope(memory.caller.tenant_id):
        found = bounded_queries.figures_of(caller=memory.caller, bounds=_bounds(memory), narrow=narrow)
    return Figures(*found)


def conversation(*, memory: BoundedMemory, session: Session | None, most: int | None) -> str:
    """What was said last, `most` messages or as many as the agent's context has, as `User: …` and
    `Assistant: …`, a line each; empty where there is nothing."""
    if session is None:
        return ""
    with scope(session.tenant_id):
        most = most or bounds_of(memory, session.agent_id).context
    said = session_events(memory=memory, session=session, event_types=tuple(SPOKEN), limit=most)
    return "\n".join(f"{SPOKEN[event.event_type]}: {event.content}" for event in said)


def clean_up(*, memory: BoundedMemory, before: datetime, now: datetime) -> CleanedMemory:
    """Lets go of the sessions that were last used before then."""
    with scope(memory.caller.tenant_id):
        agents = [one.agent_id for one in _bounds(memory)]
        done = CleanedMemory(
            bounded_queries.let_old_go(caller=memory.caller, agents=agents, before=before, now=now)
        )
        idempotency.keep(done, user_id=memory.caller.user_id)
    return done


def _begin_nothing(caller: Caller, user_id: str, address: SessionAddress) -> Begun:
    """Where the memory is switched off: the id is told, and that is all."""
    begun = Begun(address.session_id or NO_SESSION)
    with scope(caller.tenant_id):
        idempotency.keep(begun, user_id=user_id)
    return begun


def _begin(
    memory: BoundedMemory, bound: Bound, refs: Sequence[SessionRef], app_name: str, now: datetime
) -> None:
    """In the open scope, with the id locked: in the first of these places that is not another agent's."""
    caller, agent_id, session_id = memory.caller, memory.agent_id, refs[0].session_id
    bounded_queries.lock_memory(tenant_id=caller.tenant_id, agent_id=bound.agent_id)
    bounded_queries.lock_namesakes(caller=caller, agent_id=agent_id, session_id=session_id)
    bounded_queries.make_room(caller=caller, bound=bound, now=now)
    session, created = _opened(caller, bound.agent_id, refs, app_name, now)
    place = bounded_queries.let_namesakes_go(caller=caller, agent_id=agent_id, session=session, now=now)
    if not created or place is not None:
        kept = session.place if session.is_known_to_kaos and not created else None
        bounded_queries.empty(session=session, place=kept or place or now, app_name=app_name, now=now)


def _opened(
    caller: Caller, agent_id: str, refs: Sequence[SessionRef], app_name: str, now: datetime
) -> tuple[Session, bool]:
    """The session, locked, and whether it is new. Raises Conflict, and Forbidden for another project's."""
    for ref in refs:
        with suppress(_AnotherAgents), transaction.atomic():  # another agent's is left as it was
            session, created = querysets.open_session(
                ref=ref,
                agent_id=agent_id,
                project=caller.confine_project(None),
                metadata={APP_NAME: app_name},
                now=now,
            )
            if agent_id and session.agent_id != agent_id:
                raise _AnotherAgents
            confine(caller, session)
            return session, created
    raise Conflict("This session is another agent's.")


class _AnotherAgents(Exception):
    """The session is there, and another agent has begun it."""


def _is_stored(ref: SessionRef) -> bool:
    with scope(ref.tenant_id):
        named = {"external_id": ref.session_id, "namespace": ref.namespace, "user_id": ref.user_id}
        return Session.objects.filter(tenant_id=ref.tenant_id, **named).exists()


def _is_there(memory: BoundedMemory, ref: SessionRef) -> bool:
    found = bounded_queries.sessions_named(
        caller=memory.caller, agent_id=memory.agent_id, session_id=ref.session_id, narrow=Narrow()
    )
    return found.exists()


def _named(memory: BoundedMemory, session_id: str, narrow: Narrow) -> Session | None:
    caller = memory.caller
    found = bounded_queries.sessions_named(
        caller=caller, agent_id=memory.agent_id, session_id=session_id, narrow=narrow
    )
    ref = SessionRef(caller.tenant_id, narrow.namespace or "", narrow.user_id or caller.user_id, session_id)
    some = list(found[:3])
    return the_one_meant(some, ref) if some else None


def _bounds(memory: BoundedMemory) -> list[Bound]:
    """Of each agent that has a memory, in the open scope."""
    agents = [memory.agent_id] if memory.agent_id else bounded_queries.agents_in(memory.caller)
    allowed = [(agent_id, bounds_of(memory, agent_id)) for agent_id in agents]
    return [Bound(agent_id, one.sessions, one.events) for agent_id, one in allowed if one.enabled]
