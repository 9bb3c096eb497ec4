"""Recall over several kinds of memory: episodes, slots of a user, observations of a project."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Literal, get_args

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from episodic.access import note_access
from episodic.entities import nearest_slots
from episodic.models import Entity
from episodic.slot_words import Named
from episodic.slots import slot_text
from lexical.averages import Average, average_of
from observations.search import SIGNAL_WEIGHTS, search_observations
from observations.types import ObservationFilter, SearchHit
from recall.expansion import text_searched_for
from recall.recall import Embedding, recall
from recall.stages import Stage, milliseconds, timed
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.embedding import embed_meanwhile
from tenants.errors import Invalid, Overdue, Unavailable
from tenants.policy.document import Recall
from tenants.policy.reading import read_policy
from tenants.scope import each_statement_within

Kind = Literal["episode", "entity", "observation"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SLOTS = 50  # of the nearest that are ranked, at least


@dataclass(frozen=True, slots=True)
class Other:
    """A recalled memory that is no episode. Scores are its kind's own: a slot's the cosine and what is added
    because the query names it, an observation's that of its search. The signals, each times its weight or
    else 1, add up to it. `average` is that of all candidates of its kind."""

    kind: Kind
    id: str
    text: str
    score: float
    signals: dict[str, float]
    session_id: str
    user_id: str
    agent_id: str
    created_at: datetime
    weights: dict[str, float] = field(default_factory=dict)
    average: Average | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was recalled: of each kind the best first, and the kinds in turn. `episodes` tells how these were
    found, if they were asked for."""

    results: tuple[Hit | Other, ...]
    stages: tuple[Stage, ...]
    query_used: str
    episodes: Recalled | None


@dataclass(slots=True)
class _Asked:
    """What is asked of each kind, and what came of it."""

    caller: Caller
    query: RecallQuery
    top_k: int
    embedding: Embedding
    now: datetime
    stages: list[Stage]
    episodes: Recalled | None = None


def recall_kinds(
    *, caller: Caller, query: RecallQuery, kinds: Sequence[Kind], now: datetime, counted: bool = True
) -> Answer:
    """The best of each kind, at most `top_k` together. A vague query is looked for with what was said last in
    its session. Of several kinds, one is left out for which PostgreSQL takes too long, or that cannot do
    without the embedding model while that is away; the stages say so.

    Raises what `recall` raises, and Invalid for slots without a user, and for a filter that a kind which is
    asked for does not know."""
    _check(query, kinds, caller)
    with each_statement_within(settings.RECALL_STAGE_SECONDS):
        asked = _begun(caller, query, now)
        found = _found(asked, list(dict.fromkeys(kinds)))
    results = tuple(_in_turn(found))[: asked.top_k]
    if counted:
        ids = [one.episode.id for one in results if isinstance(one, Hit)]
        note_access(caller=caller, ids=ids, now=now)
    return Answer(results, tuple(asked.stages), asked.query.text, asked.episodes)


def _begun(caller: Caller, query: RecallQuery, now: datetime) -> _Asked:
    stages: list[Stage] = []
    began = time.perf_counter()
    try:
        query = replace(query, text=text_searched_for(caller=caller, query=query, now=now))
    except Overdue:  # then it is looked for as it is
        stages.append(Stage("window", milliseconds(began), "failed"))
    return _Asked(
        caller=caller,
        query=query,
        top_k=query.top_k or _settings(caller, query).top_k,
        embedding=embed_meanwhile(query.text, tenant_id=caller.tenant_id),
        now=now,
        stages=stages,
    )


def _settings(caller: Caller, query: RecallQuery) -> Recall:
    """Those of the agent that is meant, as for episodes alone."""
    agent_id = caller.confine_agent(query.where.agent_id)
    return read_policy(tenant_id=caller.tenant_id, agent_id=agent_id).recall


def _found(asked: _Asked, kinds: Sequence[Kind]) -> list[Sequence[Hit | Other]]:
    """Of each kind that can answer, and in time. Raises Unavailable when none can."""
    found: list[Sequence[Hit | Other]] = []
    for left, kind in zip(range(len(kinds) - 1, -1, -1), kinds, strict=True):
        try:
            found.append(_FINDERS[kind](asked))
        except Unavailable:
            if not found and not left:
                raise
    return found


def _episodes(asked: _Asked) -> Sequence[Hit | Other]:
    began = time.perf_counter()
    try:
        asked.episodes = recall(
            caller=asked.caller, query=asked.query, embedding=asked.embedding, now=asked.now, counted=False
        )
    except Unavailable:
        asked.stages.append(Stage("episodes", milliseconds(began), "failed"))
        raise
    asked.stages += asked.episodes.stages
    return asked.episodes.hits


def _entities(asked: _Asked) -> Sequence[Hit | Other]:
    with timed("entities", asked.stages):
        return slots_for(caller=asked.caller, query=asked.query, vector=asked.embedding(), limit=asked.top_k)


def _observations(asked: _Asked) -> Sequence[Hit | Other]:
    with timed("observations", asked.stages):
        hits = search_observations(
            caller=asked.caller,
            text=asked.query.text,
            where=observation_filter(asked.query),
            limit=asked.top_k,
            mode="hybrid",
        )
    return [of_observation(hit) for hit in hits]


_FINDERS: dict[Kind, Callable[[_Asked], Sequence[Hit | Other]]] = {
    "episode": _episodes,
    "entity": _entities,
    "observation": _observations,
}


# Filters that a kind does not know, and what a request calls them.
_UNKNOWN: dict[Kind, dict[str, str]] = {
    "episode": {},
    "entity": {
        "agent_id": "agent_id",
        "project": "project",
        "session_id": "session_id",
        "memory_types": "memory_type",
        "topics": "topics",
        "since": "since",
        "until": "until",
        "as_of": "as_of",
    },
    "observation": {
        "agent_id": "agent_id",
        "memory_types": "memory_type",
        "topics": "topics",
        "as_of": "as_of",
    },
}


def _check(query: RecallQuery, kinds: Sequence[Kind], caller: Caller) -> None:
    for kind in kinds:
        if wrong := cannot_answer(kind, query=query, caller=caller):
            raise wrong


def cannot_answer(kind: Kind, *, query: RecallQuery, caller: Caller) -> Invalid | None:
    """Why memories of that kind cannot be asked for with the query's filter; None: they can."""
    if kind == "entity" and not caller.confine_user(query.where.user_id):
        return Invalid("Name the user whose slots are meant.", "user_id")
    for name, told in _UNKNOWN[kind].items():
        if getattr(query.where, name):
            return Invalid(f"Memories of kind {kind} cannot be chosen by it.", told)
    return None


def observation_filter(query: RecallQuery) -> ObservationFilter:
    where = query.where
    return ObservationFilter(
        project=where.project,
        user_id=where.user_id,
        session_id=where.session_id,
        since=where.since,
        until=where.until,
    )


def slots_for(*, caller: Caller, query: RecallQuery, vector: NDArray[np.float32], limit: int) -> list[Other]:
    """The user's slots that answer the query best, of those nearest to it: one whose whole key it names has
    the policy's `recall.entity_boost` beside its cosine."""
    user_id = caller.confine_user(query.where.user_id)
    boost = _settings(caller, query).entity_boost
    found = nearest_slots(caller=caller, user_id=user_id, vector=vector, limit=max(SLOTS, limit))
    named = Named(query.text)
    signals = [_slot_signals(slot, cosine, named, boost) for slot, cosine in found]
    average = average_of(signals)
    slots = [_of_slot(slot, each, average) for (slot, _cosine), each in zip(found, signals, strict=True)]
    return sorted(slots, key=lambda one: -one.score)[:limit]  # stable: of equal ones the nearer is first


def _slot_signals(slot: Entity, cosine: float, named: Named, boost: float) -> dict[str, float]:
    is_named = boost and named.share_of(slot.key) == 1
    return {"cosine": cosine} | ({"entity": boost} if is_named else {})


def _of_slot(slot: Entity, signals: dict[str, float], average: Average | None) -> Other:
    return Other(
        "entity", str(slot.id), slot_text(slot.key, slot.value), sum(signals.values()), signals,
        slot.source_session, slot.user_id, slot.agent_id, slot.created_at, average=average,
    )  # fmt: skip


def of_observation(hit: SearchHit) -> Other:
    """An observation that was found."""
    one = hit.observation
    signals, weights = (hit.signals, SIGNAL_WEIGHTS) if hit.signals else ({hit.method: -hit.rank}, {})
    return Other(
        "observation", str(one.id), f"{one.title}\n{one.content}", -hit.rank, signals,
        one.session, one.user_id, one.agent_id, one.created_at.astimezone(UTC), weights, hit.average,
    )  # fmt: skip


def _in_turn(found: Iterable[Sequence[Hit | Other]]) -> Iterator[Hit | Other]:
    """The first of each, then the second of each."""
    for rank in zip_longest(*found):
        yield from (one for one in rank if one is not None)
