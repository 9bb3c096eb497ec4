"""The one read path to long-term memory."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from episodic import search
from providers.embeddings import get_embedder
from recall.feedback import boosts
from recall.metrics import RETRIEVAL_SECONDS
from recall.stages import Stage, timed
from recall.types import Hit, Recalled, RecallQuery
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.policy.reading import read_policy

FURTHER = 20  # memories behind the best that verdicts may move up among them


def recall(
    *, caller: Caller, query: RecallQuery, embedding: Callable[[], NDArray[np.float32]] | None = None
) -> Recalled:
    """The memories nearest in meaning to the query, within the key's reach. What was thought of them moves
    them as far as the policy's `recall.feedback_weight`. `embedding` waits for the query's vector, if it was
    begun already.

    Where at least `top_k` match the filter, `top_k` are answered. Raises Invalid when the query names
    nobody's memories and the key has not scope admin, Unavailable when the embedding model is away.
    """
    where = search.confine(caller, query.where)
    if not (where.user_id or where.agent_id or where.session_id or where.project or caller.may("admin")):
        raise Invalid("Name a user_id, agent_id, session_id or project: whose memories are meant?", "user_id")
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=where.agent_id or "").recall
    top_k, weight = query.top_k or policy.top_k, policy.feedback_weight
    began = time.perf_counter()
    stages: list[Stage] = []
    with timed("embed", stages):
        vector = embedding() if embedding else search.embed_query(query.text, tenant_id=caller.tenant_id)
    with timed("vector", stages):
        neighbours = search.nearest_episodes(
            caller=caller, vector=vector, where=where, limit=top_k + FURTHER if weight else top_k
        )
    hits = [
        Hit(episode=found.episode, score=found.cosine, signals={"cosine": found.cosine})
        for found in neighbours
    ]
    if weight:
        with timed("feedback", stages):
            hits = _moved(caller, hits, weight)[:top_k]
    RETRIEVAL_SECONDS.observe(time.perf_counter() - began)
    return Recalled(tuple(hits), tuple(stages), query.text, get_embedder().model)


def _moved(caller: Caller, hits: Sequence[Hit], weight: float) -> list[Hit]:
    """The hits with what was thought of them in their scores, best first."""
    added = boosts(caller=caller, memory_ids=[str(hit.episode.id) for hit in hits], weight=weight)
    moved = [_with_feedback(hit, added.get(str(hit.episode.id), 0.0)) for hit in hits]
    return sorted(moved, key=lambda hit: -hit.score)  # stable: equal scores stay in their order


def _with_feedback(hit: Hit, added: float) -> Hit:
    return Hit(hit.episode, hit.score + added, hit.signals | {"feedback": added})
