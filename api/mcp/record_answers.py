"""What the tools of records and of working memory answer: JSON, without what is not there."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from episodic.access import Access
from episodic.models import Episode
from recall.long_term import FoundRecord
from working.workspace import Workspace

DIGITS = 4  # of a distance
HIDDEN = frozenset({"recorded_at"})


def told(answer: Mapping[str, Any]) -> str:
    """The text for the model."""
    return json.dumps(_present(answer), ensure_ascii=False, default=_moment)


def record(episode: Episode, used: Access | None = None) -> dict[str, Any]:
    """A record; with how it was used, if that is known."""
    return _present(
        {
            "id": episode.external_id or str(episode.id),
            "text": episode.text,
            "memory_type": episode.memory_type,
            "topics": episode.topics,
            "entities": episode.entities,
            "event_date": episode.event_date,
            "user_id": episode.user_id,
            "session_id": episode.session,
            "namespace": episode.namespace,
            "created_at": episode.created_at,
            "updated_at": episode.updated_at,
            "last_accessed": used.last_accessed_at if used else None,
        }
    )


def found(one: FoundRecord) -> dict[str, Any]:
    """A record that a search has found, with how far it is."""
    near = {"dist": round(one.distance, DIGITS)}
    if one.episode is not None:
        return record(one.episode, one.used) | near
    said = one.working.record if one.working else {}
    return {name: value for name, value in said.items() if name not in HIDDEN} | near


def working_memory(workspace: Workspace) -> dict[str, Any]:
    """A session as a whole."""
    session = workspace.session
    return {
        "session_id": session.external_id,
        "user_id": session.user_id,
        "namespace": session.namespace,
        "context": workspace.context,
        "messages": [
            {"id": one.id, "role": one.role, "content": one.content, "created_at": one.created_at}
            for one in workspace.messages
        ],
        "memories": [
            {name: value for name, value in one.items() if name not in HIDDEN} for one in workspace.memories
        ],
        "data": workspace.data,
        "ttl_seconds": workspace.ttl_seconds,
        "updated_at": workspace.changed_at,
    }


def _present(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if value not in (None, "")}


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    raise TypeError(f"No JSON: {type(value).__name__}")
