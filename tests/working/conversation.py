"""What the tests of this folder do to a session, and where they look afterwards."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

from django.db import connections
from django.utils import timezone
from django_redis import get_redis_connection

from tenants.caller import Caller
from tenants.scope import scope
from working import keys
from working.events import Appended, append_events, entry_of, event_type_of, turn_of
from working.models import Event
from working.sessions import access_session, ref_of
from working.turns import SessionWindow, read_window
from working.types import NewEvent, SessionAddress, SessionRef

S = SessionAddress("s")
EARLY = datetime(2026, 1, 1, tzinfo=UTC)


def turn(role: str, content: Any, *, id: str | None = None, **tool: Any) -> NewEvent:
    return NewEvent(
        event_type=event_type_of(role, tool.get("tool_calls")), role=role, content=content, tool=tool or None,
        external_id=id, created_at=EARLY,
    )  # fmt: skip


def append(caller: Caller, *events: NewEvent, address: SessionAddress = S, **named: Any) -> Appended:
    return append_events(caller=caller, address=address, events=events, now=timezone.now(), **named)


def window(caller: Caller, address: SessionAddress = S, **wanted: Any) -> SessionWindow:
    return read_window(caller=caller, address=address, now=timezone.now(), **{"pairs": 1_000} | wanted)


def contents(caller: Caller, address: SessionAddress = S, **wanted: Any) -> list[Any]:
    return [one.content for one in window(caller, address, **wanted).window.turns]


def reference(caller: Caller, address: SessionAddress = S) -> SessionRef:
    return ref_of(access_session(caller=caller, address=address))


def logged(caller: Caller, address: SessionAddress = S) -> list[Event]:
    """The session's log in PostgreSQL."""
    session = access_session(caller=caller, address=address)
    with scope(caller.tenant_id):
        found = Event.objects.filter(tenant_id=caller.tenant_id, session_id=session.id)
        return list(found.order_by("seq"))


def logged_entries(caller: Caller, address: SessionAddress = S) -> list[str]:
    """What a Redis list rebuilt from PostgreSQL would hold."""
    return [entry_of(event.seq, turn_of(event, event.seq)) for event in logged(caller, address) if event.role]


def cached_entries(caller: Caller, address: SessionAddress = S) -> list[str]:
    """The Redis list as it stands, trusted or not."""
    return get_redis_connection().lrange(keys.turns(reference(caller, address)), 0, -1)


def state(caller: Caller, address: SessionAddress = S) -> dict[str, str]:
    """What Redis knows of the session."""
    return get_redis_connection().hgetall(keys.meta(reference(caller, address)))


def at_once(*jobs: Callable[[], Any]) -> list[Any]:
    """Runs the jobs in threads that begin together; their results. A job's exception is raised here."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        try:
            barrier.wait()
            return job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def numbers(events: Sequence[Event]) -> list[int]:
    return [event.seq for event in events]
