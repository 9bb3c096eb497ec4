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
    """A session as a client names it: the id, and whichever of the other parts it gave. `is_exact`: without a
    user it is nobody's, and without a namespace that in none; else whichever it is that the id means."""

    session_id: str
    user_id: str | None = None
    namespace: str | None = None
    is_exact: bool = False


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


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as a client sends it with a whole session."""

    role: str
    content: str
    created_at: datetime
    id: str | None = None
    persisted_at: datetime | None = None
    is_extracted: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a session. `is_extracted`: it was looked at for memories, or need not be."""

    seq: int
    id: str
    role: str
    content: str
    created_at: datetime
    persisted_at: datetime | None
    is_extracted: bool


@dataclass(frozen=True, slots=True)
class GivenWorkspace:
    """A session as a client wants it to be: all of it.

    `context` None: the client names none. `updated_at` is what the client says it has read; `last_accessed`
    counts as that if the server has told it so. `ttl_seconds` None: it does not say.
    """

    messages: tuple[NewMessage, ...] = ()
    memories: tuple[Mapping[str, Any], ...] = ()
    data: Mapping[str, Any] | None = None
    context: str | None = None
    strategy: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    ttl_seconds: int | None = None
    updated_at: datetime | None = None
    last_accessed: datetime | None = None
