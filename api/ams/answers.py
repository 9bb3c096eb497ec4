"""What the routes of this dialect answer."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recall.working_memory import WindowSize, WindowUse
from working.types import Message, SessionAddress
from working.workspace import Workspace

STRATEGY: dict[str, Any] = {"strategy": "discrete", "config": {}}
OK = {"status": "ok"}
# A record of a session as it is stored, and what it lacks there.
UNSAID: dict[str, Any] = {
    "session_id": None, "user_id": None, "namespace": None, "topics": None, "entities": None,
    "memory_hash": None, "persisted_at": None, "extracted_from": None, "event_date": None,
}  # fmt: skip
MOMENTS = ("created_at", "updated_at", "last_accessed", "persisted_at", "event_date")


def working_memory(found: Workspace, use: WindowUse) -> dict[str, Any]:
    """A session as a whole, with how much of the window it takes."""
    session = found.session
    return {
        "messages": [message(one) for one in found.messages],
        "memories": [UNSAID | said(one) for one in found.memories],
        "data": None if found.data is None else _without_nulls(found.data),
        "context": found.context or None,
        "user_id": session.user_id or None,
        "tokens": found.tokens,
        "session_id": session.external_id,
        "namespace": session.namespace or None,
        "long_term_memory_strategy": found.strategy or STRATEGY,
        "ttl_seconds": found.ttl_seconds,
        "last_accessed": found.changed_at,
        "created_at": session.started_at,
        "updated_at": found.changed_at,
        "context_percentage_total_used": use.context_percentage_total_used,
        "context_percentage_until_summarization": use.context_percentage_until_summarization,
    }


def unsaved(address: SessionAddress, *, window: WindowSize, now: datetime) -> dict[str, Any]:
    """A session that there is not, as one that holds nothing yet."""
    used = None if window == WindowSize() else 0.0
    return {
        "messages": [],
        "memories": [],
        "data": {},
        "context": None,
        "user_id": address.user_id,
        "tokens": 0,
        "session_id": address.session_id,
        "namespace": address.namespace,
        "long_term_memory_strategy": STRATEGY,
        "ttl_seconds": None,
        "last_accessed": now,
        "created_at": now,
        "updated_at": now,
        "context_percentage_total_used": used,
        "context_percentage_until_summarization": used,
        "unsaved": True,
    }


def message(one: Message) -> dict[str, Any]:
    """A message of a session."""
    return {
        "role": one.role,
        "content": one.content,
        "id": one.id,
        "created_at": one.created_at,
        "persisted_at": one.persisted_at,
        "discrete_memory_extracted": "t" if one.is_extracted else "f",
    }


def said(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it stands in a session, its moments as all are told."""
    told = {name: value for name, value in record.items() if name != "recorded_at"}
    texts = {name: told[name] for name in MOMENTS if isinstance(told.get(name), str)}
    return told | {name: text.replace("+00:00", "Z") for name, text in texts.items()}


def _without_nulls(data: Mapping[str, Any]) -> dict[str, Any]:
    """The client takes no null for a value."""
    return {name: value for name, value in data.items() if value is not None}
