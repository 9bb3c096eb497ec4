"""What the AEGIS routes answer."""

from collections.abc import Sequence
from typing import Any

from episodic.models import Episode
from recall.types import Hit
from working.memory import WorkingMemory

MOST_MEMORIES = 1_000
HEADER = "[Episodic Memory -- Relevant Past Conversations]"


def envelope(conversation_id: str, memory: WorkingMemory | None) -> dict[str, Any]:
    """Working memory with its figures."""
    return {
        "conversation_id": conversation_id,
        "data": memory.data if memory else {},
        "size_bytes": memory.size_bytes if memory else 0,
        "ttl_seconds": memory.ttl_seconds if memory and memory.data else 0,
    }


def episode(one: Episode) -> dict[str, Any]:
    """A stored memory."""
    return {
        "id": one.id,
        "agent_id": one.agent_id,
        "user_id": one.user_id or None,
        "conversation_id": one.session,
        "summary": one.text,
        "key_decisions": one.key_decisions,
        "entities_mentioned": one.entities_mentioned,
        "tools_called": one.tools_called,
        "created_at": one.created_at,
    }


def hit(one: Hit) -> dict[str, Any]:
    """A search result; `similarity` is 1 - cosine distance, from -1 to 1."""
    return {
        "id": one.episode.id,
        "summary": one.episode.text,
        "key_decisions": one.episode.key_decisions,
        "entities_mentioned": one.episode.entities_mentioned,
        "similarity": one.signals["cosine"],
        "conversation_id": one.episode.session,
        "created_at": one.episode.created_at,
    }


def text(hits: Sequence[Hit]) -> str:
    """The block that an agent injects into its prompt; empty without hits."""
    if not hits:
        return ""
    lines = [f"- (similarity: {one.signals['cosine']:.2f}) {one.episode.text}" for one in hits]
    return "\n".join([HEADER, *lines])
