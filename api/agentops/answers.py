"""What the AgentOps routes answer. Fields that are empty are left out, as the original does."""

from datetime import UTC, datetime
from typing import Any

from observations.models import Observation
from observations.types import Saved, SearchHit
from recall.context import Context
from working.models import Session

Fields = dict[str, Any]


def moment(one: datetime) -> str:
    """UTC to the second."""
    return one.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def session(one: Session) -> Fields:
    """A session; its summary, even an empty one, once it has ended."""
    told = one.ended_at is not None or one.summary
    return {
        "id": one.external_id,
        "project": one.project_key,
        "started_at": moment(one.started_at),
        **({"ended_at": moment(one.ended_at)} if one.ended_at else {}),
        **({"summary": one.summary} if told else {}),
        "message_count": one.told_messages,
    }


def observation(one: Observation) -> Fields:
    """An observation in full."""
    return {
        "id": one.id,
        "session_id": one.session,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        **_given(tags=one.tags),
        "project": one.project,
        "scope": one.scope,
        **_given(topic_key=one.topic_key, normalized_hash=one.normalized_hash),
        "revision_count": one.revision_count,
        "duplicate_count": one.duplicate_count,
        **({"last_seen_at": moment(one.last_seen_at)} if one.last_seen_at else {}),
        **_given(promoted_to=one.promoted_to),
        "created_at": moment(one.created_at),
        "updated_at": moment(one.updated_at),
    }


def exported_session(one: Session) -> Fields:
    """A session with what an import into another server needs to know of it."""
    return session(one) | _given(user_id=one.user_id, agent_id=one.agent_id, namespace=one.namespace)


def exported_observation(one: Observation) -> Fields:
    """Likewise."""
    return observation(one) | _given(user_id=one.user_id, agent_id=one.agent_id)


def saved(one: Saved) -> Fields:
    """What became of a write."""
    return {
        "id": one.observation.id,
        "action": one.action,
        "revision_count": one.observation.revision_count,
        "duplicate_count": one.observation.duplicate_count,
    }


def hit(one: SearchHit) -> Fields:
    """A search result."""
    return {
        "id": one.observation.id,
        "type": one.observation.type,
        "title": one.observation.title,
        "content": one.observation.content,
        "rank": one.rank,
        **_given(topic_key=one.observation.topic_key),
    }


def context(one: Context) -> Fields:
    """What an agent is told."""
    return {
        "recent_sessions": [
            {"summary": told.summary, "session_id": told.session_id} for told in one.sessions
        ],
        "recent_observations": [
            {
                "type": told.type,
                "title": told.title,
                "content": told.content,
                "id": told.id,
                "rank": told.rank,
                "method": told.method,
            }
            for told in one.observations
        ],
    }


def neighbour(one: Observation) -> Fields:
    """An observation on a timeline."""
    return {
        "id": one.id,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        "created_at": moment(one.created_at),
    }


def _given(**fields: Any) -> Fields:
    return {name: value for name, value in fields.items() if value}
