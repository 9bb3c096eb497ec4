"""The SQL of episodes: filters, exact nearest neighbours, pending work."""

from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Q
from numpy.typing import NDArray

from episodic.models import Episode
from episodic.types import EpisodeFilter, Neighbour

# Each condition names the columns of `v` (vectors) where they are, else of `e` (episodes).
VECTOR_CONDITIONS = {"user_id": "v.user_id = %(user_id)s", "agent_id": "v.agent_id = %(agent_id)s"}
EPISODE_CONDITIONS = {
    "project": "e.project = %(project)s",
    "session_id": "e.session = %(session_id)s",
    "namespace": "e.namespace = %(namespace)s",
    "memory_types": "e.memory_type = ANY(%(memory_types)s)",
    "topics": "e.topics && %(topics)s",
    "since": "coalesce(e.event_date, e.created_at) >= %(since)s",
    "until": "coalesce(e.event_date, e.created_at) <= %(until)s",
}

# Every vector of the subject is compared: asking for k where k match always answers k.
NEAREST = """
SELECT v.episode_id, 1 - (v.embedding <=> %(query)s::vector) AS cosine
FROM episode_embeddings v {join}
WHERE v.tenant_id = %(tenant)s AND v.model = %(model)s {conditions}
ORDER BY v.embedding <=> %(query)s::vector, v.episode_id
LIMIT %(limit)s
"""
JOIN = "JOIN agent_episodes e ON e.tenant_id = v.tenant_id AND e.id = v.episode_id"


def nearest(
    *, tenant_id: UUID, model: str, query: NDArray[np.float32], where: EpisodeFilter, limit: int
) -> list[Neighbour]:
    """The `limit` episodes nearest to `query`, shape (dimensions,), by `model`; best first."""
    params = _params(where) | {
        "tenant": tenant_id,
        "model": model,
        "query": vector_literal(query),
        "limit": limit,
    }
    on_vectors = [sql for name, sql in VECTOR_CONDITIONS.items() if name in params]
    on_episodes = [sql for name, sql in EPISODE_CONDITIONS.items() if name in params]
    statement = NEAREST.format(
        join=JOIN if on_episodes else "",
        conditions="".join(f" AND {sql}" for sql in on_vectors + on_episodes),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        ranked = cursor.fetchall()
    found = Episode.objects.in_bulk([episode_id for episode_id, _cosine in ranked])
    return [Neighbour(found[episode_id], float(cosine)) for episode_id, cosine in ranked]


def matching(*, tenant_id: UUID, where: EpisodeFilter) -> Q:
    """The same conditions for lists."""
    columns = {"session_id": "session", "memory_types": "memory_type__in", "topics": "topics__overlap"}
    times = {"since": "created_at__gte", "until": "created_at__lte"}
    condition = Q(tenant_id=tenant_id)
    for name, value in _params(where).items():
        condition &= Q(**{columns.get(name) or times.get(name) or name: value})
    return condition


def vector_literal(vector: NDArray[np.float32]) -> str:
    """The vector as pgvector reads it."""
    return "[" + ",".join(map(str, vector.tolist())) + "]"


def _params(where: EpisodeFilter) -> dict[str, Any]:
    """The conditions that are set."""
    names = ("user_id", "agent_id", "project", "session_id", "namespace", "memory_types", "topics")
    given = {name: getattr(where, name) for name in (*names, "since", "until")}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }
