"""What the KAOS routes answer; its console also reads id, type, role and session_id."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from working.bounded_memory import APP_NAME, BoundedMemory, Figures
from working.models import Event, Session

NO_AGENT = "agent"  # what a memory of several is called


def name_of(memory: BoundedMemory) -> str:
    """Whose memory it is."""
    return memory.agent_id or NO_AGENT


def event(one: Event, session_id: str) -> dict[str, Any]:
    """An event of a session. One that came without an id has the server's."""
    event_id = one.external_id or str(one.id)
    return {
        "event_id": event_id,
        "timestamp": moment(one.created_at),
        "event_type": one.event_type,
        "content": one.tool if one.content is None and one.tool else one.content,
        "metadata": one.metadata,
        "id": event_id,
        "type": one.event_type,
        "role": one.role or None,
        "session_id": session_id,
    }


def events(memory: BoundedMemory, found: Iterable[tuple[str, Event]]) -> dict[str, Any]:
    """A list of events, each with its session's id."""
    shown = [event(one, session_id) for session_id, one in found]
    return {"agent": name_of(memory), "events": shown, "total": len(shown)}


def session(one: Session, found: Iterable[Event]) -> dict[str, Any]:
    """A session with its events."""
    begun = max(one.place, one.emptied_at or one.place)
    return {
        "session_id": one.external_id,
        "user_id": one.user_id,
        "app_name": said if isinstance(said := one.metadata.get(APP_NAME), str) else one.agent_id,
        "events": [event(each, one.external_id) for each in found],
        "created_at": moment(begun),
        "updated_at": moment(one.last_activity_at),
    }


def stats(one: Figures) -> dict[str, int]:
    """How much a memory has."""
    return {
        "total_sessions": one.sessions,
        "total_events": one.events,
        "avg_events_per_session": one.events // one.sessions if one.sessions else 0,
    }


def moment(one: datetime) -> str:
    """As Python writes it, in UTC."""
    return one.astimezone(UTC).isoformat()
