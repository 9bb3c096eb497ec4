"""The start of a session: what is known, in one call."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from episodic.entity_reading import current_slots
from episodic.episodes import list_episodes
from episodic.models import Entity, Episode
from episodic.types import EpisodeFilter
from knowledge.models import Procedure
from knowledge.procedures import procedures_for
from recall.recall import recall
from recall.types import RecallQuery
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Unavailable
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.telemetry import memory_span
from working import sessions
from working.models import Session
from working.redis import RedisAway
from working.types import SessionAddress

LONGEST_KEPT = 65_536  # characters of an answer: it shows memories, of which it would keep a copy


@dataclass(frozen=True, slots=True)
class Remembered:
    """An episode, and its score if it was searched for."""

    episode: Episode
    score: float | None


@dataclass(frozen=True, slots=True)
class StartedSession:
    """The session and what is remembered of its user."""

    session: Session
    entities: tuple[Entity, ...]
    episodes: tuple[Remembered, ...]
    procedures: tuple[Procedure, ...]


def start_session(
    *, caller: Caller, address: SessionAddress, agent_id: str | None, query: str | None, now: datetime
) -> StartedSession:
    """Creates or finds the session, renews its hold, and tells what is known: its user's slots, the user's
    episodes, the best for `query` or the newest without one, and the procedures that are meant for its agent.
    With the embedding model away the episodes are the newest, too."""
    with memory_span("create_session", session_id=address.session_id):
        session, _created = sessions.open_session(caller=caller, address=address, agent_id=agent_id, now=now)
    with suppress(RedisAway):  # then there is nothing to hold
        sessions.hold(caller=caller, session=session, now=now)
    episodes = _episodes(caller, session, query, now)
    with scope(caller.tenant_id):
        started = StartedSession(
            session=session,
            entities=tuple(current_slots(caller=caller, user_id=session.user_id)),
            episodes=episodes,
            procedures=tuple(procedures_for(caller=caller, agent_id=session.agent_id)),
        )
        idempotency.keep(started, user_id=session.user_id, longest=LONGEST_KEPT)
    return started


def _episodes(caller: Caller, session: Session, query: str | None, now: datetime) -> tuple[Remembered, ...]:
    where = EpisodeFilter(user_id=session.user_id)
    top_k = read_policy(tenant_id=caller.tenant_id, agent_id=session.agent_id).recall.top_k
    if query:
        with suppress(Unavailable):
            asked = RecallQuery(text=query, where=where, top_k=top_k, profile="fused")
            found = recall(caller=caller, query=asked, now=now)
            return tuple(Remembered(hit.episode, hit.score) for hit in found.hits)
    newest = list_episodes(caller=caller, where=where, limit=top_k)
    return tuple(Remembered(episode, None) for episode in newest)
