"""Values that pass between the working memory's modules and their callers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SessionRef:
    """A session's identity. Namespace and user are empty when not given."""

    tenant_id: UUID
    namespace: str
    user_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """A session as a client names it: the id, and whichever of the other parts it gave."""

    session_id: str
    user_id: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append. A turn is an event with a `role`."""

    event_type: str
    content: Any
    created_at: datetime
    external_id: str | None = None
    role: str = ""
    tool: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with its number in the session."""

    seq: int
    event: NewEvent


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: the new running summary, and the newest event that windows leave to it."""

    summary: str
    upto: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as a chat API has it; with the client's own id where no log keeps that."""

    seq: int
    role: str
    content: Any
    tool_calls: Any = None
    tool_call_id: str | None = None
    name: str | None = None
    external_id: str | None = None

    def message(self) -> dict[str, Any]:
        """The turn for a chat API: absent parts left out."""
        message: dict[str, Any] = {"role": self.role, "content": self.content}
        optional = {"tool_calls": self.tool_calls, "tool_call_id": self.tool_call_id, "name": self.name}
        message.update({key: value for key, value in optional.items() if value is not None})
        return message
