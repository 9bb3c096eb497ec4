"""The one read path to long-term memory."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from episodic import search
from providers.embeddings import get_embedder
from recall.metrics import RETRIEVAL_SECONDS
from recall.types import Hit, Recalled, RecallQuery, Stage
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.policy.reading import read_policy


def recall(*, caller: Caller, query: RecallQuery) -> Recalled:
    """The memories nearest in meaning to the query, within the key's reach.

    Where at least `top_k` match the filter, `top_k` are answered. Raises Invalid when the query names
    nobody's memories and the key has not scope admin, Unavailable when the embedding model is away.
    """
    where = search.confine(caller, query.where)
    if not (where.user_id or where.agent_id or where.session_id or where.project or caller.may("admin")):
        raise Invalid("Name a user_id, agent_id, session_id or project: whose memories are meant?", "user_id")
    top_k = query.top_k or read_policy(tenant_id=caller.tenant_id, agent_id=where.agent_id or "").recall.top_k
    began = time.perf_counter()
    stages: list[Stage] = []
    with _timed("embed", stages):
        vector = search.embed_query(query.text, tenant_id=caller.tenant_id)
    with _timed("vector", stages):
        neighbours = search.nearest_episodes(caller=caller, vector=vector, where=where, limit=top_k)
    hits = tuple(
        Hit(episode=found.episode, score=found.cosine, signals={"cosine": found.cosine})
        for found in neighbours
    )
    RETRIEVAL_SECONDS.observe(time.perf_counter() - began)
    return Recalled(hits, tuple(stages), query.text, get_embedder().model)


@contextmanager
def _timed(name: str, stages: list[Stage]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    stages.append(Stage(name, round((time.perf_counter() - start) * 1000, 2)))
