"""From a client's messages to turns of the log, and back. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from tenants.ulids import new_ulid
from working.events import ROLE_EVENTS
from working.merging import Given, Held, Plan, once_each
from working.types import NewEvent, NewMessage, StoredEvent
from working.workspace_queries import Row

MESSAGE = "message"  # the event type of roles that no chat API knows


def held_of(rows: Sequence[Row], texts: Sequence[str]) -> list[Held]:
    """The stored turns as the merge sees them, each with what it says."""
    return [
        Held(row.seq, row.id, row.role, text, row.recorded_at) for row, text in zip(rows, texts, strict=True)
    ]


def given_of(messages: Iterable[NewMessage]) -> list[Given]:
    """The client's messages as the merge sees them."""
    return [Given(one.id, one.role, one.content) for one in messages]


def additions(messages: Iterable[NewMessage], known: Collection[str]) -> Plan:
    """Of messages that are added to what is there, those whose id is new, each once as `merge` does."""
    ids = [one.id for one in messages]
    return Plan(withdrawn=(), added=tuple(at for at in once_each(ids) if ids[at] not in known))


def events_of(
    plan: Plan, messages: Sequence[NewMessage], rows: Sequence[Row], *, extracted_seq: int
) -> Iterator[NewEvent]:
    """What the log takes in: the client's messages as they came, and those that come again as they were."""
    by_seq = {row.seq: row for row in rows}
    for one in plan.added:
        if isinstance(one, Held):
            yield _again(by_seq[one.seq], is_extracted=one.seq <= extracted_seq)
        else:
            yield _event(messages[one])


def row_of(stored: StoredEvent, at: datetime) -> Row:
    """The turn that was just stored."""
    event = stored.event
    identity = event.external_id or ""
    return Row(
        stored.seq, identity, event.role, event.content, event.tool, event.created_at, at, event.metadata
    )


def _event(message: NewMessage) -> NewEvent:
    metadata: dict[str, Any] = {}
    if message.is_extracted:
        metadata["extracted"] = True
    if message.persisted_at is not None:
        metadata["persisted_at"] = message.persisted_at.isoformat()
    return NewEvent(
        event_type=ROLE_EVENTS.get(message.role, MESSAGE),
        content=message.content,
        created_at=message.created_at,
        external_id=message.id or new_ulid(),
        role=message.role,
        metadata=metadata,
    )


def _again(row: Row, *, is_extracted: bool) -> NewEvent:
    tool: Mapping[str, Any] | None = row.tool
    return NewEvent(
        event_type=ROLE_EVENTS.get(row.role, MESSAGE),
        content=row.content,
        created_at=row.created_at,
        external_id=row.id,
        role=row.role,
        tool=tool,
        metadata={**row.metadata, "extracted": True} if is_extracted else row.metadata,
    )
