"""The SQL of likeness in meaning: the nearest to a vector, and the newest beside them. In an open scope."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from episodic.conditions import conditions_of, joined, params_of
from episodic.sizes import Size
from episodic.types import EpisodeFilter, Wanted
from tenants.embedding import vector_literal

# How the nearest are looked for. `exact`: every vector of the subject is compared. `signatures`: their signs
# are, which stand in the index, and then the vectors of those that differ least. `graph`: an approximate
# index brings the vectors that are compared.
Way = Literal["exact", "signatures", "graph"]
Vector = NDArray[np.float32]

PROMISING = 500  # vectors that are compared exactly, at least
TIMES = 10  # … and for each that is wanted
# … and, by signatures, of the subject: the more there are, the more differ as little. The less a sign tells,
# the more of all of these: with a third of the entropy, 500 hold 92 of the hundred nearest in 3,000.
SHARE = 0.02
LEAST_ENTROPY = 0.01
EF_SEARCH = 800  # how many the graph looks for: 99 of the first hundred among a million

NEAREST = """
SELECT episode_id, embedding <=> %(query)s::vector AS distance
FROM episode_embeddings
WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
ORDER BY distance, episode_id
LIMIT %(limit)s
"""
# All of a subject, in the order of their ids, as pgvector sends them: half as long as their text, and read as
# they are.
READ = """
SELECT episode_id, vector_send(embedding)
FROM episode_embeddings
WHERE tenant_id = %(tenant)s AND model = %(model)s AND episode_id > %(after)s {conditions}
ORDER BY episode_id
LIMIT %(limit)s
"""
SENT_FROM = 4  # bytes before the first number
# The nearest, and the newest whatever they are like; each is compared exactly. One that is both comes twice.
CANDIDATES = """
(SELECT episode_id, embedding <=> %(query)s::vector AS distance, FALSE AS is_new
 FROM episode_embeddings
 WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
 ORDER BY distance, episode_id
 LIMIT %(limit)s)
UNION ALL
(SELECT episode_id, embedding <=> %(query)s::vector AS distance, TRUE AS is_new
 FROM episode_embeddings
 WHERE tenant_id = %(tenant)s AND model = %(model)s AND episode_id = ANY (ARRAY(
   SELECT id FROM agent_episodes
   WHERE tenant_id = %(tenant)s AND NOT embed_pending {newest}
   ORDER BY created_at DESC, id DESC
   LIMIT %(newest)s))
 ORDER BY distance, episode_id)
"""
WRITTEN_SINCE = "created_at >= %(written_since)s"
# An array, not a join: on a table that was just filled and not analysed yet, the planner takes both sides for
# one row and joins them in a time that grows with the square of the subject.
AMONG = "episode_id = ANY (ARRAY(SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s{conditions}))"
# Whatever is wanted of a subject is looked at, so that as many are found as there are.
LEAST_DIFFERENT = """episode_id = ANY (ARRAY(
    SELECT episode_id FROM episode_embeddings
    WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
    ORDER BY signature::bit({dimensions}) <~> binary_quantize(%(query)s::vector)::bit({dimensions}),
             episode_id DESC
    LIMIT %(promising)s))"""
# Not in strict order: what comes out of it is dropped then, and that was half of the best.
BY_GRAPH = """episode_id = ANY (ARRAY(
    SELECT episode_id FROM episode_embeddings
    WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}
    ORDER BY embedding::halfvec({dimensions}) <=> %(query)s::halfvec({dimensions})
    LIMIT %(promising)s))"""
FIRST_PASS: dict[Way, str] = {"signatures": LEAST_DIFFERENT, "graph": BY_GRAPH}
WITH_GRAPH = f"SET LOCAL hnsw.ef_search = {EF_SEARCH}; SET LOCAL hnsw.iterative_scan = relaxed_order; "


@dataclass(frozen=True, slots=True)
class Near:
    """What is looked for: near to `vector`, shape (dimensions,), by `model`, in a subject of this size."""

    tenant_id: UUID
    model: str
    vector: Vector
    where: EpisodeFilter
    size: Size

    def promising(self, limit: int, way: Way) -> int:
        """How many are compared exactly after a first pass."""
        least = max(PROMISING, TIMES * limit)
        if way == "graph":
            return least
        blur = max(self.size.entropy, LEAST_ENTROPY) ** 1.5
        return int(max(least, SHARE * self.size.vectors) / blur)


def nearest_ids(near: Near, *, limit: int, way: Way) -> dict[UUID, float]:
    """The cosines of the `limit` nearest, best first."""
    params = _params(near, limit, way)
    statement = NEAREST.format(conditions=_conditions(near, _of_subject(near, params), way))
    return {episode_id: 1 - float(distance) for episode_id, distance in _fetch(statement, params, way)}


def read_vectors(near: Near, *, after: UUID, limit: int) -> tuple[list[UUID], Vector]:
    """Up to `limit` vectors of the subject with ids after that one, shape (n, dimensions), whatever they are
    like."""
    params = params_of(near.where) | {"tenant": near.tenant_id, "model": near.model}
    params |= {"after": after, "limit": limit}
    statement = READ.format(conditions=joined(_of_subject(near, params)))
    rows = _fetch(statement, params, "exact")
    sent = b"".join(bytes(vector)[SENT_FROM:] for _id, vector in rows)
    vectors = np.frombuffer(sent, dtype=">f4").astype(np.float32)
    return [episode_id for episode_id, _vector in rows], vectors.reshape(len(rows), len(near.vector))


def candidate_ids(near: Near, *, wanted: Wanted, way: Way) -> dict[UUID, tuple[float, bool]]:
    """The nearest, best first, and then those of the newest that are not among them: the cosine, and whether
    it is there for its age alone."""
    params = _params(near, wanted.nearest, way)
    params |= {"newest": wanted.newest, "written_since": wanted.written_since}
    subject, further = conditions_of(near.where, params)
    if wanted.written_since is not None:
        further.append(WRITTEN_SINCE)
    among = [AMONG.format(conditions=joined(subject + further))] if further else []
    statement = CANDIDATES.format(
        conditions=_conditions(near, subject + among, way), newest=joined(subject + further)
    )
    cosines: dict[UUID, tuple[float, bool]] = {}
    for episode_id, distance, is_new in _fetch(statement, params, way):
        cosines.setdefault(episode_id, (1 - float(distance), is_new))
    return cosines


def _of_subject(near: Near, params: dict[str, Any]) -> list[str]:
    """What all of the subject's vectors meet."""
    subject, further = conditions_of(near.where, params)
    among = [AMONG.format(conditions=joined(subject + further))] if further else []
    return subject + among


def _params(near: Near, limit: int, way: Way) -> dict[str, Any]:
    return params_of(near.where) | {
        "tenant": near.tenant_id,
        "model": near.model,
        "query": vector_literal(near.vector),
        "limit": limit,
        "promising": near.promising(limit, way),
    }


def _conditions(near: Near, conditions: list[str], way: Way) -> str:
    """Those of the vectors that are compared exactly."""
    if way == "exact":
        return joined(conditions)
    first_pass = FIRST_PASS[way].format(conditions=joined(conditions), dimensions=len(near.vector))
    return joined([first_pass])


def _fetch(statement: str, params: dict[str, Any], way: Way) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(WITH_GRAPH + statement if way == "graph" else statement, params)
        while cursor.description is None:  # what SET answers
            cursor.nextset()
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
