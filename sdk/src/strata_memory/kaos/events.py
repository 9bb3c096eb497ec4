"""What KAOS agents record: events, and the sessions that hold them."""

import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .tracing import current_trace

USER_MESSAGE, AGENT_RESPONSE = "user_message", "agent_response"


def utcnow() -> datetime:
    """Now, aware of its time zone."""
    return datetime.now(UTC)


@dataclass
class MemoryEvent:
    """One thing that happened in a session. `content` is whatever its `event_type` needs."""

    event_id: str
    timestamp: datetime
    event_type: str
    content: Any
    metadata: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The five fields, the time as ISO 8601 text."""
        return {
            "event_id": self.event_id,
            "timestamp": self.timestamp.isoformat(),
            "event_type": self.event_type,
            "content": self.content,
            "metadata": self.metadata,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MemoryEvent":
        """The event of such a dictionary. Raises KeyError for one that lacks a field."""
        return cls(
            event_id=data["event_id"],
            timestamp=datetime.fromisoformat(data["timestamp"]),
            event_type=data["event_type"],
            content=data["content"],
            metadata=data["metadata"],
        )


@dataclass
class SessionMemory:
    """A conversation: who has it with which agent, and what is still known of it, oldest first."""

    session_id: str
    user_id: str
    app_name: str
    events: deque[MemoryEvent] = field(default_factory=deque)
    created_at: datetime = field(default_factory=utcnow)
    updated_at: datetime = field(default_factory=utcnow)

    def to_dict(self) -> dict[str, Any]:
        """The fields, times as ISO 8601 text, events as their own dictionaries."""
        return {
            "session_id": self.session_id,
            "user_id": self.user_id,
            "app_name": self.app_name,
            "events": [event.to_dict() for event in self.events],
            "created_at": self.created_at.isoformat(),
            "updated_at": self.updated_at.isoformat(),
        }


def new_event(
    event_type: str, content: Any, metadata: Mapping[str, Any] | None, *, prefix: str = "event"
) -> MemoryEvent:
    """An event of now, with an id of eight hexadecimal digits, in the trace that is going on."""
    return MemoryEvent(
        event_id=f"{prefix}_{secrets.token_hex(4)}",
        timestamp=utcnow(),
        event_type=event_type,
        content=content,
        metadata={**(metadata or {}), **current_trace()},
    )


def new_session_id() -> str:
    """An id for a session that was given none."""
    return f"session_{secrets.token_hex(6)}"
