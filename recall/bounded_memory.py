"""Writes to sessions of KAOS's bounded memory, by the ways that every door takes."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recall.sessions import DeletedSession, delete_session
from recall.turns import append_turns
from tenants import idempotency
from tenants.errors import Conflict, Forbidden, NotFound
from tenants.scope import scope
from working import sessions
from working.bounded_memory import BoundedMemory, bounds_of, find_session
from working.bounded_queries import Narrow
from working.models import Session
from working.sessions import ref_of, refuse_hidden
from working.types import NewEvent, SessionAddress


@dataclass(frozen=True, slots=True)
class Added:
    """Whether events were added: not to a session that the memory does not know."""

    added: bool


def add_events(
    *, memory: BoundedMemory, session_id: str, narrow: Narrow, events: Sequence[NewEvent], now: datetime
) -> Added:
    """Adds events to a session that the memory knows; those whose id its log has are left out.

    With its user named, or bound, nothing is read first: the row that the append locks tells whether the
    memory knows the session. Raises RedisAway, and Forbidden for another agent's or project's session.
    """
    caller = memory.caller
    if memory.agent_id and not bounds_of(memory).enabled:
        return _kept(memory, narrow, Added(added=True))
    if user := caller.confine_user(narrow.user_id or None):
        with suppress(NotFound, Conflict, Forbidden):  # then not in the place where most are
            return _append(memory, SessionAddress(session_id, user, narrow.namespace), events, now)
    found = find_session(memory=memory, session_id=session_id, narrow=narrow)
    if found is not None:
        with suppress(NotFound):  # it has been let go, or deleted, since
            return _append(memory, _exactly(found), events, now)
    refuse_others(memory=memory, session_id=session_id, narrow=narrow)
    address = SessionAddress(session_id, narrow.user_id or None, narrow.namespace)
    refuse_hidden(sessions.exact_ref(caller, address), address)
    return _kept(memory, narrow, Added(added=not bounds_of(memory).enabled))


def delete_known(*, memory: BoundedMemory, session_id: str, narrow: Narrow, now: datetime) -> DeletedSession:
    """Deletes a session that the memory knows, with its log and all else, as `delete_session` does."""
    found = find_session(memory=memory, session_id=session_id, narrow=narrow)
    if found is not None:
        return delete_session(caller=memory.caller, address=_exactly(found), now=now)
    refuse_others(memory=memory, session_id=session_id, narrow=narrow)
    done = DeletedSession(found=not bounds_of(memory).enabled)
    with scope(memory.caller.tenant_id):
        idempotency.keep(done, user_id=memory.caller.confine_user(narrow.user_id or None))
    return done


def refuse_others(*, memory: BoundedMemory, session_id: str, narrow: Narrow) -> None:
    """Raises Forbidden when there is a session of that id that the key does not reach."""
    address = SessionAddress(session_id, narrow.user_id or None, narrow.namespace)
    with suppress(Conflict):  # it would be one that the memory does not know
        sessions.find_session(caller=memory.caller, address=address)


def _append(
    memory: BoundedMemory, address: SessionAddress, events: Sequence[NewEvent], now: datetime
) -> Added:
    added = Added(added=True)

    def is_known(session: Session) -> bool:
        is_ours = memory.agent_id in ("", session.agent_id) and bounds_of(memory, session.agent_id).enabled
        if is_ours and session.is_known_to_kaos:
            idempotency.keep(added, user_id=session.user_id)
            return True
        return False

    append_turns(caller=memory.caller, address=address, events=events, now=now, only_if=is_known)
    return added


def _exactly(session: Session) -> SessionAddress:
    ref = ref_of(session)
    return SessionAddress(ref.session_id, ref.user_id, ref.namespace)


def _kept(memory: BoundedMemory, narrow: Narrow, done: Added) -> Added:
    with scope(memory.caller.tenant_id):
        idempotency.keep(done, user_id=memory.caller.confine_user(narrow.user_id or None))
    return done
