"""The one read path to long-term memory."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from django.conf import settings
from django.utils import timezone
from numpy.typing import NDArray

from episodic import search
from episodic.access import note_access
from episodic.types import EpisodeFilter
from ledger.latency import note_recall
from lexical.averages import average_of
from recall.feedback import boosts
from recall.fused import fused_hits, ranking_of, written_since
from recall.hybrid import SCALE, Search, hybrid_hits, weights_of
from recall.metrics import RETRIEVAL_SECONDS
from recall.ranking.recency import RecencyWeights
from recall.recency import Recency, recency_hits
from recall.spreading import pool_of, spread_out
from recall.stages import Stage, timed
from recall.trials import Variant, settings_for
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.errors import Invalid, Overdue
from tenants.generations import model_of
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import each_statement_within

FURTHER = 20  # memories behind the best that verdicts may move up among them

Embedding = Callable[[], NDArray[np.float32]]


def recall(
    *,
    caller: Caller,
    query: RecallQuery,
    embedding: Embedding | None = None,
    now: datetime | None = None,
    counted: bool = True,
) -> Recalled:
    """The memories that answer the query best, within the key's reach, by the query's profile, else the
    policy's. What was thought of them moves them as far as the policy's `recall.feedback_weight`. `embedding`
    waits for the query's vector, if it was begun already. Those that are answered count as accessed, unless
    `counted` is false.

    Where at least `top_k` match the filter, `top_k` are answered. A stage for which PostgreSQL takes longer
    than `RECALL_STAGE_SECONDS` is done without where that can be, and the stages say so. Raises Invalid when
    the query names nobody's memories and the key has not scope admin, Unavailable when the embedding model or
    PostgreSQL is away and the profile cannot do without it.
    """
    with each_statement_within(settings.RECALL_STAGE_SECONDS):
        return _recalled(caller, query, embedding, now or timezone.now(), counted=counted)


def _recalled(
    caller: Caller, query: RecallQuery, embedding: Embedding | None, now: datetime, *, counted: bool
) -> Recalled:
    where = search.confine(caller, query.where)
    if not (where.user_id or where.agent_id or where.session_id or where.project or caller.may("admin")):
        raise Invalid("Name a user_id, agent_id, session_id or project: whose memories are meant?", "user_id")
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=where.agent_id or "")
    policy, variant = _tried(caller, query, where, policy)
    profile = query.profile or policy.recall.profile
    began = time.perf_counter()
    stages: list[Stage] = []
    asked = replace(
        query, where=where, top_k=query.top_k or policy.recall.top_k, profile=profile, mmr=_share(query)
    )
    hits, formula = _chosen(caller, asked, policy, embedding, stages, now)
    seconds = time.perf_counter() - began
    RETRIEVAL_SECONDS.observe(seconds)
    note_recall(tenant_id=caller.tenant_id, seconds=seconds, now=now)
    if counted:
        note_access(caller=caller, ids=[hit.episode.id for hit in hits], now=now)
    model = model_of(caller.tenant_id)
    return Recalled(tuple(hits), tuple(stages), query.text, model, formula, profile, variant)


def _tried(
    caller: Caller, query: RecallQuery, where: EpisodeFilter, policy: Policy
) -> tuple[Policy, Variant]:
    """The policy with the setting that a trial has for this query, unless it says itself how to rank."""
    if query.names_ranking:
        return policy, ""
    return settings_for(
        policy, tenant_id=caller.tenant_id, user_id=where.user_id or "", session=query.session
    )


def _share(query: RecallQuery) -> float | None:
    """None for relevance alone."""
    return query.mmr if query.mmr is not None and query.mmr < 1 else None


def _chosen(
    caller: Caller,
    query: RecallQuery,
    policy: Policy,
    embedding: Embedding | None,
    stages: list[Stage],
    now: datetime,
) -> tuple[list[Hit], str]:
    """The `top_k` that are answered, by everything that moves them, and how their scores came about."""
    top_k, weight = query.top_k or policy.recall.top_k, policy.recall.feedback_weight
    looked_at = top_k if query.mmr is None else pool_of(top_k)
    found, formula = _hits(
        caller, query, policy, embedding, looked_at + (FURTHER if weight else 0), stages, now
    )
    hits: Sequence[Hit] = found
    if weight:
        hits = _moved(caller, hits, weight * (SCALE if query.profile in ("hybrid", "keyword") else 1), stages)
        formula += " + feedback"
    if query.mmr is not None:
        return spread_out(caller, hits, wanted=top_k, share=query.mmr, stages=stages), formula
    return list(hits[:top_k]), formula


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
    at = query.where.as_of or now
    since = written_since(policy, at)
    if query.profile in ("hybrid", "keyword"):
        weights = weights_of(policy)
        asked = Search(
            caller=caller,
            text=query.text,
            where=query.where,
            now=now,
            wanted=limit,
            decay=policy.recall.decay if query.decay is None else query.decay,
            written_since=since,
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
    if query.profile == "recency":
        recency = query.recency_weights or RecencyWeights()
        hits = recency_hits(Recency(caller, query.where, recency, since, at), vector, limit, stages)
        return hits, recency.formula()
    return _nearest(caller, query.where, vector, limit, stages), "score = cosine"


def _nearest(
    caller: Caller, where: EpisodeFilter, vector: NDArray[np.float32], limit: int, stages: list[Stage]
) -> list[Hit]:
    """The nearest in meaning."""
    with timed("vector", stages):
        neighbours = search.nearest_episodes(caller=caller, vector=vector, where=where, limit=limit)
    average = average_of([{"cosine": one.cosine} for one in neighbours])
    return [Hit(one.episode, one.cosine, {"cosine": one.cosine}, average=average) for one in neighbours]


def _moved(caller: Caller, hits: Sequence[Hit], weight: float, stages: list[Stage]) -> Sequence[Hit]:
    """The hits with what was thought of them in their scores, best first; as they were, if that does not come
    in time."""
    ids = [str(hit.episode.id) for hit in hits]
    try:
        with timed("feedback", stages):
            added = boosts(caller=caller, memory_ids=ids, weight=weight)
    except Overdue:
        return hits
    moved = [_with_feedback(hit, added.get(str(hit.episode.id), 0.0)) for hit in hits]
    return sorted(moved, key=lambda hit: -hit.score)  # stable: equal scores stay in their order


def _with_feedback(hit: Hit, added: float) -> Hit:
    parts = hit.added | {"feedback": added} if hit.added else hit.added
    return replace(hit, score=hit.score + added, signals=hit.signals | {"feedback": added}, added=parts)
