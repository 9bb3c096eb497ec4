"""From bodies to what the domain takes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from api.ams import bodies
from episodic.types import NewRecord
from working.types import GivenWorkspace, NewMessage

DATES = ("created_at", "updated_at", "last_accessed")


def messages_of(sent: Sequence[bodies.Message], now: datetime) -> tuple[NewMessage, ...]:
    """The messages, those without a moment as of `now`."""
    return tuple(
        NewMessage(
            role=one.role,
            content=one.content,
            created_at=one.created_at or now,
            id=one.id or None,
            persisted_at=one.persisted_at,
            is_extracted=one.discrete_memory_extracted == "t",
        )
        for one in sent
    )


def workspace_of(sent: bodies.WorkingMemory, *, now: datetime) -> GivenWorkspace:
    """The session as the client wants it to be."""
    return GivenWorkspace(
        messages=messages_of(sent.messages, now),
        memories=tuple(_pending(one, now) for one in sent.memories),
        data=sent.data,
        context=sent.context,
        strategy=sent.long_term_memory_strategy.as_sent(),
        tokens=sent.tokens,
        ttl_seconds=sent.ttl_seconds,
        updated_at=sent.updated_at,
        last_accessed=sent.last_accessed,
    )


def record_of(sent: bodies.NewRecord) -> NewRecord:
    """A record that is stored at once. What the server tells of it is its own."""
    return NewRecord(
        id=sent.id,
        text=sent.text,
        session_id=sent.session_id or "",
        user_id=sent.user_id or None,
        namespace=sent.namespace or "",
        created_at=sent.created_at,
        event_date=sent.event_date,
        topics=tuple(sent.topics or ()),
        entities=tuple(sent.entities or ()),
        memory_type=sent.memory_type,
        pinned=sent.pinned,
        access_count=sent.access_count,
        last_accessed=sent.last_accessed,
        extracted_from=tuple(sent.extracted_from or ()),
        extraction_strategy=sent.extraction_strategy,
        extraction_config=sent.extraction_strategy_config,
        extracted=sent.discrete_memory_extracted,
        metadata=sent.metadata,
    )


def lacks_moments(sent: Sequence[bodies.Message]) -> bool:
    """Whether some message does not say when it was said."""
    return any(one.created_at is None for one in sent)


def _pending(sent: bodies.Record, now: datetime) -> dict[str, Any]:
    """The record as the session keeps it: JSON, without nulls."""
    moment = now.isoformat()
    return dict.fromkeys(DATES, moment) | sent.model_dump(mode="json", exclude_none=True)
