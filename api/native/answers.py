"""What the native routes answer."""

from dataclasses import asdict
from typing import Any

from episodic.access import ReadEpisode
from episodic.models import Episode
from recall.kinds import Answer, Other
from recall.sessions import EndedSession
from recall.turns import Told
from recall.types import Hit, Recalled
from tenants.models import Job, PolicyVersion, Tombstone
from tenants.policy.versions import LevelPolicy
from working.events import Appended
from working.models import Event, Session
from working.turns import SessionWindow


def session(one: Session) -> dict[str, Any]:
    """A session."""
    return {
        "session_id": one.external_id,
        "namespace": one.namespace,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "project": one.project or None,
        "metadata": one.metadata,
        "turn_count": one.turn_count,
        "summary": one.summary or None,
        "started_at": one.started_at,
        "last_activity_at": one.last_activity_at,
        "ended_at": one.ended_at,
    }


def appended_turns(one: Told) -> dict[str, Any]:
    """What appending turns did, and whether older ones were left to a new summary."""
    return {
        "accepted": one.appended.accepted,
        "duplicates": one.appended.duplicates,
        "turn_count": one.appended.turn_count,
        "summarised": one.summarised,
    }


def appended_events(one: Appended) -> dict[str, Any]:
    """What appending events did."""
    return {"accepted": one.accepted, "duplicates": one.duplicates, "seq": one.numbers}


def event(one: Event) -> dict[str, Any]:
    """An entry of a session's log. One that came without an id has the server's."""
    return {
        "event_id": one.external_id or str(one.id),
        "seq": one.seq,
        "event_type": one.event_type,
        "role": one.role or None,
        "content": one.content,
        **(one.tool or {}),
        "metadata": one.metadata,
        "timestamp": one.created_at,
    }


def window(one: SessionWindow) -> dict[str, Any]:
    """A window as messages for a chat API: the summary first, where there is one that is not told in full."""
    messages = [turn.message() for turn in one.window.turns]
    if one.summary and one.include_summary:
        messages.insert(0, {"role": "system", "content": one.summary})
    return {
        "messages": messages,
        "summary": one.summary or None,
        "truncated": one.window.truncated,
        "tokens": one.window.tokens,
    }


def episode(one: Episode) -> dict[str, Any]:
    """An episode."""
    return {
        "id": one.id,
        "text": one.text,
        "memory_type": one.memory_type,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "project": one.project or None,
        "session_id": one.session or None,
        "namespace": one.namespace,
        "topics": one.topics,
        "entities": one.entities,
        "outcome": one.outcome or None,
        "key_decisions": one.key_decisions,
        "entities_mentioned": one.entities_mentioned,
        "tools_called": one.tools_called,
        "covers_turns": one.covers_turns,
        "event_date": one.event_date,
        "metadata": one.metadata,
        "embedded": not one.embed_pending,
        "valid_from": one.valid_from or one.created_at,
        "valid_to": one.valid_to,
        "superseded_by": one.superseded_by,
        "pinned_at": one.pinned_at,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "version": one.version,
    }


def read_episode(one: ReadEpisode) -> dict[str, Any]:
    """An episode as it is read: with how it was used."""
    return episode(one.episode) | asdict(one.used)


def ended(one: EndedSession) -> dict[str, Any]:
    """What the end of a session left behind."""
    return {
        "session_id": one.session_id,
        "summary": one.summary,
        "episode_id": one.episode_id,
        "message_count": one.message_count,
    }


def job(one: Job) -> dict[str, Any]:
    """A job. What it was given to do stays inside: only its result is for the caller."""
    return {
        "id": one.id,
        "kind": one.kind,
        "state": one.state,
        "done": one.done,
        "total": one.total,
        "result": one.result,
        "error": one.error or None,
        "attempts": one.attempts,
        "created_at": one.created_at,
        "finished_at": one.finished_at,
    }


def receipt(one: Tombstone) -> dict[str, Any]:
    """An erasure; without residue, duration and the signed receipt as long as it is not done. Receipts from
    before they were signed are not answered as such."""
    return {
        "erased_at": one.erased_at,
        "completed_at": one.completed_at,
        "requested_by": one.requested_by,
        "erased": one.receipt.get("erased", {}),
        "residue": one.receipt.get("residue"),
        "seconds": one.receipt.get("seconds"),
        "receipt": one.receipt if "signature" in one.receipt else None,
    }


def policy(one: LevelPolicy) -> dict[str, Any]:
    """What a level decides, what holds, and what would hold without it."""
    return {
        "agent_id": one.level.agent_id or None,
        "version": one.version,
        "document": one.document,
        "effective": one.effective.model_dump(mode="json"),
        "defaults": one.defaults.model_dump(mode="json"),
    }


def policy_version(one: PolicyVersion) -> dict[str, Any]:
    """A version of a level's document."""
    return {
        "version": one.version,
        "document": one.document,
        "author": one.author,
        "note": one.note,
        "created_at": one.created_at,
    }


def recalled(found: Answer, *, explain: bool) -> dict[str, Any]:
    """An answer of recall."""
    how = found.episodes if explain else None
    return {
        "results": [
            _hit(one, rank, how) if isinstance(one, Hit) else _other(one)
            for rank, one in enumerate(found.results, 1)
        ],
        "stages": [{"name": one.name, "ms": one.ms, "status": one.status} for one in found.stages],
        "query_used": found.query_used,
    }


def _other(one: Other) -> dict[str, Any]:
    """With the members of an episode, so that one reading serves all kinds."""
    return {
        "kind": one.kind,
        "id": one.id,
        "text": one.text,
        "score": one.score,
        "signals": one.signals,
        "memory_type": None,
        "session_id": one.session_id or None,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "topics": [],
        "event_date": None,
        "covers_turns": None,
        "metadata": {},
        "created_at": one.created_at,
    }


def _hit(one: Hit, rank: int, how: Recalled | None) -> dict[str, Any]:
    shown = {
        "kind": "episode",
        "id": one.episode.id,
        "text": one.episode.text,
        "score": one.score,
        "signals": one.signals,
        "memory_type": one.episode.memory_type,
        "session_id": one.episode.session or None,
        "user_id": one.episode.user_id or None,
        "agent_id": one.episode.agent_id or None,
        "topics": one.episode.topics,
        "event_date": one.episode.event_date,
        "covers_turns": one.episode.covers_turns,
        "metadata": one.episode.metadata,
        "created_at": one.episode.created_at,
    }
    if how is not None:
        shown["explain"] = {
            "rank": rank,
            "arm": one.arm,
            "added": one.added,
            "model": how.model,
            "formula": how.formula,
            "variant": how.variant or None,
        }
        if one.spread is not None:
            shown["explain"]["mmr"] = asdict(one.spread)
    return shown
