"""The one read path to long-term memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from episodic import search
from episodic.types import EpisodeFilter
from providers.embeddings import get_embedder
from recall.feedback import boosts
from recall.fused import fused_hits, ranking_of, written_since
from recall.hybrid import SCALE, Search, hybrid_hits, weights_of
from recall.metrics import RETRIEVAL_SECONDS
from recall.stages import Stage, timed
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy

FURTHER = 20  # memories behind the best that verdicts may move up among them

Embedding = Callable[[], NDArray[np.float32]]


def recall(
    *, caller: Caller, query: RecallQuery, embedding: Embedding | None = None, now: datetime | None = None
) -> Recalled:
    """The memories that answer the query best, within the key's reach, by the query's profile, else the
    policy's. What was thought of them moves them as far as the policy's `recall.feedback_weight`. `embedding`
    waits for the query's vector, if it was begun already.

    Where at least `top_k` match the filter, `top_k` are answered. Raises Invalid when the query names
    nobody's memories and the key has not scope admin, Unavailable when the embedding model is away and the
    profile cannot do without it.
    """
    where = search.confine(caller, query.where)
    if not (where.user_id or where.agent_id or where.session_id or where.project or caller.may("admin")):
        raise Invalid("Name a user_id, agent_id, session_id or project: whose memories are meant?", "user_id")
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=where.agent_id or "")
    profile = query.profile or policy.recall.profile
    top_k, weight = query.top_k or policy.recall.top_k, policy.recall.feedback_weight
    looked_at = top_k + FURTHER if weight else top_k
    began = time.perf_counter()
    stages: list[Stage] = []
    asked = replace(query, where=where, top_k=top_k, profile=profile)
    hits, formula = _hits(caller, asked, policy, embedding, looked_at, stages, now or timezone.now())
    if weight:
        formula += " + feedback"
        with timed("feedback", stages):
            moves = weight * (SCALE if profile in ("hybrid", "keyword") else 1.0)
            hits = _moved(caller, hits, moves)[:top_k]
    RETRIEVAL_SECONDS.observe(time.perf_counter() - began)
    return Recalled(tuple(hits), tuple(stages), query.text, get_embedder().model, formula, profile)


def _hits(
    caller: Caller,
    query: RecallQuery,
    policy: Policy,
    embedding: Embedding | None,
    limit: int,
    stages: list[Stage],
    now: datetime,
) -> tuple[list[Hit], str]:
    """The `limit` best by the query's profile, and how their scores came about."""
    if query.profile in ("hybrid", "keyword"):
        weights = weights_of(policy)
        asked = Search(
            caller=caller,
            text=query.text,
            where=query.where,
            now=now,
            wanted=limit,
            decay=policy.recall.decay if query.decay is None else query.decay,
            written_since=written_since(policy, query.where.as_of or now),
            words_only=query.profile == "keyword",
        )
        hits = hybrid_hits(asked, weights, embedding=embedding, stages=stages)
        return hits, weights.formula()
    with timed("embed", stages):
        vector = embedding() if embedding else search.embed_query(query.text, tenant_id=caller.tenant_id)
    if query.profile == "fused":
        ranking = ranking_of(caller, query, query.where, policy, now)
        hits = fused_hits(ranking, vector, query.top_k or limit, limit, stages)
        return hits, ranking.weights.formula()
    return _nearest(caller, query.where, vector, limit, stages), "score = cosine"


def _nearest(
    caller: Caller, where: EpisodeFilter, vector: NDArray[np.float32], limit: int, stages: list[Stage]
) -> list[Hit]:
    """The nearest in meaning."""
    with timed("vector", stages):
        neighbours = search.nearest_episodes(caller=caller, vector=vector, where=where, limit=limit)
    return [Hit(one.episode, one.cosine, {"cosine": one.cosine}) for one in neighbours]


def _moved(caller: Caller, hits: Sequence[Hit], weight: float) -> list[Hit]:
    """The hits with what was thought of them in their scores, best first."""
    added = boosts(caller=caller, memory_ids=[str(hit.episode.id) for hit in hits], weight=weight)
    moved = [_with_feedback(hit, added.get(str(hit.episode.id), 0.0)) for hit in hits]
    return sorted(moved, key=lambda hit: -hit.score)  # stable: equal scores stay in their order


def _with_feedback(hit: Hit, added: float) -> Hit:
    return Hit(hit.episode, hit.score + added, hit.signals | {"feedback": added}, hit.arm)
