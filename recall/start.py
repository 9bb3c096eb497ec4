"""The start of a session: what is known, in one call."""

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from episodic.episodes import list_episodes
from episodic.models import Episode
from episodic.slot_choice import ChosenSlots, choose_slots
from episodic.types import EpisodeFilter
from knowledge.models import Procedure
from knowledge.procedures import procedures_for
from recall.recall import Embedding, recall
from recall.types import RecallQuery
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile
from tenants.errors import Overdue, Unavailable
from tenants.policy.reading import read_policy
from tenants.scope import each_statement_within, scope
from tenants.telemetry import memory_span
from working import sessions
from working.models import Session
from working.redis import RedisAway
from working.types import SessionAddress

log = logging.getLogger(__name__)
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
    entities: ChosenSlots
    episodes: tuple[Remembered, ...]
    procedures: tuple[Procedure, ...]


def start_session(
    *, caller: Caller, address: SessionAddress, agent_id: str | None, query: str | None, now: datetime
) -> StartedSession:
    """Creates or finds the session, renews its hold, and tells what is known: its user's slots, the user's
    episodes, the best for `query` or the newest without one, and the procedures that are meant for its agent.
    With the embedding model away, episodes and slots are found by the words of `query` alone, and where it
    has none to look for, the episodes are the newest. Slots for which PostgreSQL takes longer than
    `RECALL_STAGE_SECONDS` are left out."""
    with memory_span("create_session", session_id=address.session_id):
        session, _created = sessions.open_session(caller=caller, address=address, agent_id=agent_id, now=now)
    with suppress(RedisAway):  # then there is nothing to hold
        sessions.hold(caller=caller, session=session, now=now)
    with each_statement_within(settings.RECALL_STAGE_SECONDS):
        embedding = embed_meanwhile(query, tenant_id=caller.tenant_id) if query else None
        episodes = _episodes(caller, session, query, embedding, now)
        slots = _slots(caller, session, query, embedding)
    with scope(caller.tenant_id):
        started = StartedSession(
            session=session,
            entities=slots,
            episodes=episodes,
            procedures=tuple(procedures_for(caller=caller, agent_id=session.agent_id)),
        )
        idempotency.keep(started, user_id=session.user_id, longest=LONGEST_KEPT)
    return started


def _slots(caller: Caller, session: Session, query: str | None, embedding: Embedding | None) -> ChosenSlots:
    try:
        return choose_slots(caller=caller, user_id=session.user_id, query=query or "", embedding=embedding)
    except Overdue:
        log.warning("start_without_slots: PostgreSQL takes too long")
        return ChosenSlots(())


def _episodes(
    caller: Caller, session: Session, query: str | None, embedding: Embedding | None, now: datetime
) -> tuple[Remembered, ...]:
    where = EpisodeFilter(user_id=session.user_id)
    top_k = read_policy(tenant_id=caller.tenant_id, agent_id=session.agent_id).recall.top_k
    if query:
        with suppress(Unavailable):
            asked = RecallQuery(text=query, where=where, top_k=top_k, session=session.external_id)
            found = recall(caller=caller, query=asked, embedding=embedding, now=now)
            if found.hits or all(stage.status == "ok" for stage in found.stages):
                return tuple(Remembered(hit.episode, hit.score) for hit in found.hits)
    newest = list_episodes(caller=caller, where=where, limit=top_k)
    return tuple(Remembered(episode, None) for episode in newest)
