"""What clients do that send a session as a whole, and where the tests of this folder look afterwards."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from tenants.caller import Caller
from tenants.scope import scope
from tests.working.conversation import EARLY, S
from working.events import Written
from working.models import SessionState
from working.sessions import access_session
from working.types import Compacted, GivenWorkspace, NewMessage, SessionAddress
from working.workspace import Workspace, read_workspace
from working.workspace_writing import append_messages, put_workspace


def said(*ids: str, role: str = "user", content: str = "") -> tuple[NewMessage, ...]:
    """A message of each id, which says it unless told otherwise."""
    return tuple(NewMessage(role, content or one, EARLY, one) for one in ids)


def unnamed(*contents: str, role: str = "user") -> tuple[NewMessage, ...]:
    return tuple(NewMessage(role, one, EARLY) for one in contents)


def _nothing(_written: Written, _workspace: Workspace) -> Compacted | None:
    return None


def put(
    caller: Caller,
    *messages: NewMessage,
    address: SessionAddress = S,
    match: Sequence[int] = (),
    now: datetime | None = None,
    also: Any = _nothing,
    **given: Any,
) -> Workspace:
    whole = GivenWorkspace(messages=messages, **given)
    moment = now or timezone.now()
    return put_workspace(caller=caller, address=address, given=whole, now=moment, match=match, also=also)


def add(
    caller: Caller,
    *messages: NewMessage,
    address: SessionAddress = S,
    match: Sequence[int] = (),
    usual_hold: int | None = None,
    now: datetime | None = None,
    also: Any = _nothing,
) -> Workspace:
    return append_messages(
        caller=caller,
        address=address,
        messages=messages,
        usual_hold=usual_hold,
        now=now or timezone.now(),
        match=match,
        also=also,
    )


def read(caller: Caller, address: SessionAddress = S, *, later: float = 0) -> Workspace | None:
    """As it is `later` seconds from now."""
    return read_workspace(caller=caller, address=address, now=timezone.now() + timedelta(seconds=later))


def seen(caller: Caller, address: SessionAddress = S) -> Workspace:
    found = read(caller, address)
    assert found is not None
    return found


def again(workspace: Workspace) -> tuple[NewMessage, ...]:
    """The messages as a client sends back what it has read."""
    return tuple(
        NewMessage(one.role, one.content, one.created_at, one.id, one.persisted_at, one.is_extracted)
        for one in workspace.messages
    )


def ids(workspace: Workspace | None) -> list[str]:
    return [] if workspace is None else [one.id for one in workspace.messages]


def texts(workspace: Workspace | None) -> list[str]:
    return [] if workspace is None else [one.content for one in workspace.messages]


def stored_state(caller: Caller, address: SessionAddress = S) -> SessionState:
    session = access_session(caller=caller, address=address)
    with scope(caller.tenant_id):
        return SessionState.objects.get(tenant_id=caller.tenant_id, session_id=session.id)


def get_or_create(caller: Caller, address: SessionAddress = S) -> Workspace:
    """As the client does it: an empty session is sent when there is none; it says when that was made."""
    found = read(caller, address)
    return found or put(caller, address=address, data={}, last_accessed=timezone.now())


def read_add_write(caller: Caller, *messages: NewMessage, address: SessionAddress = S) -> Workspace:
    """As the client adds messages: it echoes the moment that it has read."""
    found = get_or_create(caller, address)
    return put(
        caller,
        *again(found),
        *messages,
        address=address,
        last_accessed=found.changed_at,
        context=found.context or None,
        data=found.data,
        memories=tuple(found.memories),
    )
