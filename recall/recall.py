"""The one read path to long-term memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from episodic import search
from episodic.types import Candidate, EpisodeFilter, Wanted
from providers.embeddings import get_embedder
from recall.feedback import boosts
from recall.fusion import Weights, fold, names_any, score_of, signals_of, stands_in, values_in
from recall.metrics import RETRIEVAL_SECONDS
from recall.stages import Stage, timed
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope

FURTHER = 20  # memories behind the best that verdicts may move up among them
# So many of the nearest are ranked, at least, and of the newest: a new memory can win without being alike.
NEAREST, TIMES = 50, 4
NEWEST = 20

Embedding = Callable[[], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Ranking:
    """What a fused ranking is made with. `at` is the moment that ages are counted to."""

    caller: Caller
    where: EpisodeFilter
    text: str
    weights: Weights
    written_since: datetime | None
    at: datetime


def recall(
    *, caller: Caller, query: RecallQuery, embedding: Embedding | None = None, now: datetime | None = None
) -> Recalled:
    """The memories that answer the query best, within the key's reach: by likeness, recency and exact names,
    or with the profile `similarity` by likeness alone. What was thought of them moves them as far as the
    policy's `recall.feedback_weight`. `embedding` waits for the query's vector, if it was begun already.

    Where at least `top_k` match the filter, `top_k` are answered. Raises Invalid when the query names
    nobody's memories and the key has not scope admin, Unavailable when the embedding model is away.
    """
    where = search.confine(caller, query.where)
    if not (where.user_id or where.agent_id or where.session_id or where.project or caller.may("admin")):
        raise Invalid("Name a user_id, agent_id, session_id or project: whose memories are meant?", "user_id")
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=where.agent_id or "")
    top_k, weight = query.top_k or policy.recall.top_k, policy.recall.feedback_weight
    looked_at = top_k + FURTHER if weight else top_k
    began = time.perf_counter()
    stages: list[Stage] = []
    with timed("embed", stages):
        vector = embedding() if embedding else search.embed_query(query.text, tenant_id=caller.tenant_id)
    if query.profile == "fused":
        ranking = _ranking(caller, query, where, policy, now or timezone.now())
        formula = ranking.weights.formula()
        with scope(caller.tenant_id):  # one for all its queries
            hits = _fused(ranking, vector, top_k, looked_at, stages)
    else:
        formula = "score = cosine"
        hits = _nearest(caller, where, vector, looked_at, stages)
    if weight:
        formula += " + feedback"
        with timed("feedback", stages):
            hits = _moved(caller, hits, weight)[:top_k]
    RETRIEVAL_SECONDS.observe(time.perf_counter() - began)
    return Recalled(tuple(hits), tuple(stages), query.text, get_embedder().model, formula)


def _nearest(
    caller: Caller, where: EpisodeFilter, vector: NDArray[np.float32], limit: int, stages: list[Stage]
) -> list[Hit]:
    """The nearest in meaning."""
    with timed("vector", stages):
        neighbours = search.nearest_episodes(caller=caller, vector=vector, where=where, limit=limit)
    return [Hit(one.episode, one.cosine, {"cosine": one.cosine}) for one in neighbours]


def _ranking(
    caller: Caller, query: RecallQuery, where: EpisodeFilter, policy: Policy, now: datetime
) -> _Ranking:
    """With what the request says, else the policy. What held at a moment is as old as it was then."""
    at, days = where.as_of or now, policy.recall.session_recency_days
    weights = Weights(
        alpha=policy.recall.alpha if query.alpha is None else query.alpha,
        decay=policy.recall.decay if query.decay is None else query.decay,
        entity_boost=policy.recall.entity_boost,
    )
    written_since = at - timedelta(days=days) if days else None
    return _Ranking(caller, where, fold(query.text), weights, written_since, at)


def _fused(
    ranking: _Ranking, vector: NDArray[np.float32], top_k: int, limit: int, stages: list[Stage]
) -> list[Hit]:
    """The `limit` best by all signals, of the nearest and the newest."""
    values: tuple[str, ...] = ()
    if ranking.weights.entity_boost and ranking.where.user_id:
        with timed("slots", stages):
            held = search.slot_values(caller=ranking.caller, user_id=ranking.where.user_id)
            values = values_in(held, ranking.text)
    wanted = Wanted(max(NEAREST, TIMES * top_k, limit), max(NEWEST, top_k), ranking.written_since)
    with timed("vector", stages):
        found = search.candidates(
            caller=ranking.caller, vector=vector, where=ranking.where, wanted=wanted, with_texts=bool(values)
        )
    with timed("fusion", stages):
        return _best(ranking, found, values, limit)


def _best(ranking: _Ranking, found: Sequence[Candidate], values: Sequence[str], limit: int) -> list[Hit]:
    scored = []
    for one in found:
        signals = signals_of(
            cosine=one.cosine,
            happened_at=one.happened_at,
            now=ranking.at,
            named=bool(ranking.weights.entity_boost) and _is_named(one, ranking.text, values),
            weights=ranking.weights,
        )
        scored.append((score_of(signals, ranking.weights), signals, one))
    scored.sort(key=lambda each: -each[0])  # stable: of equal scores the nearer comes first
    del scored[limit:]
    ids = [one.episode_id for _score, _signals, one in scored]
    episodes = search.episodes_by_id(caller=ranking.caller, ids=ids)
    return [
        Hit(episodes[one.episode_id], score, signals, "newest" if one.is_new else "vector")
        for score, signals, one in scored
        if one.episode_id in episodes  # one that was deleted since is left out
    ]


def _is_named(one: Candidate, query: str, values: Sequence[str]) -> bool:
    """Whether the query names something that the episode is about, or a slot's value that it tells too."""
    if names_any(one.names, query):
        return True
    text = fold(one.text) if values else ""
    return any(stands_in(value, text) for value in values)


def _moved(caller: Caller, hits: Sequence[Hit], weight: float) -> list[Hit]:
    """The hits with what was thought of them in their scores, best first."""
    added = boosts(caller=caller, memory_ids=[str(hit.episode.id) for hit in hits], weight=weight)
    moved = [_with_feedback(hit, added.get(str(hit.episode.id), 0.0)) for hit in hits]
    return sorted(moved, key=lambda hit: -hit.score)  # stable: equal scores stay in their order


def _with_feedback(hit: Hit, added: float) -> Hit:
    return Hit(hit.episode, hit.score + added, hit.signals | {"feedback": added}, hit.arm)
