"""The SQL of episodes' words: what holds them, how often they stand, and the turns around one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from episodic.conditions import conditions_of, joined, params_of
from episodic.record_tests import test_conditions, test_params
from episodic.types import EpisodeFilter
from tenants.embedding import vector_literal

FIND = """
SELECT id, length, ranks FROM episodes_find(
    %(wanted)s::tsquery, %(terms)s::text[]::tsquery[], %(weights)s::float8[], %(mean)s, %(marks)s,
    %(user_id)s, %(agent_id)s, %(history)s, %(project)s, %(session_id)s, %(namespace)s,
    %(memory_types)s::text[], %(topics)s::text[], %(since)s, %(until)s, %(as_of)s, %(most)s)
"""
# Of what was found, what the tests of the filter admit.
ADMITTED = """
SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::text::uuid[]) {conditions}
"""
# The same as FIND from the other side: the words of all that the filter admits, and no index of words. Each
# step is one of the primary key: OFFSET 0 keeps the planner from reading all of a table.
FIND_AMONG = """
WITH admitted AS MATERIALIZED (SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s {conditions})
SELECT w.id, w.length, ARRAY[{ranks}]::real[]
FROM admitted CROSS JOIN LATERAL (
    SELECT * FROM episode_search WHERE tenant_id = %(tenant)s AND id = admitted.id OFFSET 0) w
WHERE w.lexemes @@ %(wanted)s::tsquery
"""
COUNT = """
SELECT n FROM episodes_count(%(terms)s::text[]::tsquery[], %(user_id)s, %(agent_id)s, %(project)s) n
"""

FIGURES = """
SELECT count(*), coalesce(sum(length), 0), coalesce(extract(year FROM min(happened_at)), 0)::int,
       coalesce(extract(year FROM max(happened_at)), 0)::int, coalesce(array_agg(DISTINCT speaker), '{{}}')
FROM episode_search WHERE tenant_id = %(tenant)s {conditions}
"""
OF_SUBJECT = {
    "user": "AND user_id = %(user)s",
    "agent": "AND agent_id = %(agent)s",
    "project": """AND id = ANY (ARRAY(SELECT id FROM agent_episodes
                                 WHERE tenant_id = %(tenant)s AND project = %(project)s))""",
}
# One step of the index for each, from the first on: DISTINCT would read every entry.
OWNERS_OF_AGENT = """
WITH RECURSIVE found AS (
    (SELECT user_id, agent_id FROM episode_search WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s
     ORDER BY user_id LIMIT 1)
    UNION ALL
    SELECT later.user_id, later.agent_id FROM found CROSS JOIN LATERAL (
        SELECT user_id, agent_id FROM episode_search
        WHERE tenant_id = %(tenant)s AND agent_id = %(agent)s AND user_id > found.user_id
        ORDER BY user_id LIMIT 1) AS later
)
SELECT user_id, agent_id FROM found LIMIT %(limit)s
"""
OWNERS = """
WITH RECURSIVE found AS (
    (SELECT agent_id, user_id FROM episode_search WHERE tenant_id = %(tenant)s
     ORDER BY agent_id, user_id LIMIT 1)
    UNION ALL
    SELECT later.agent_id, later.user_id FROM found CROSS JOIN LATERAL (
        SELECT agent_id, user_id FROM episode_search
        WHERE tenant_id = %(tenant)s AND (agent_id, user_id) > (found.agent_id, found.user_id)
        ORDER BY agent_id, user_id LIMIT 1) AS later
)
SELECT user_id, agent_id FROM found LIMIT %(limit)s
"""

# Only where that is not all of the subject: it reads each row that the filter admits.
OWNERS_AMONG = """
SELECT DISTINCT user_id, agent_id FROM agent_episodes WHERE tenant_id = %(tenant)s {conditions}
LIMIT %(limit)s
"""

# The candidates and, of those that are turns, the turns around them, which hold now or are candidates too. A
# thread is of one user and namespace, yet of any agent and project: the conditions are on these. Each step is
# one of an index: OFFSET 0 keeps the planner from reading all of a table that it takes for small until it is
# analysed. Moments are numbers, since hundreds of them are read.
AROUND = """
WITH chosen AS MATERIALIZED (
    SELECT s.* FROM unnest(%(ids)s::text::uuid[]) AS k (id) CROSS JOIN LATERAL (
        SELECT id, thread, place FROM episode_search WHERE tenant_id = %(tenant)s AND id = k.id OFFSET 0) s
), every AS MATERIALIZED (
    SELECT id FROM chosen
    UNION
    SELECT beside.id FROM chosen CROSS JOIN LATERAL (
        SELECT s.id, s.agent_id FROM episode_search s
        WHERE s.tenant_id = %(tenant)s AND s.thread = chosen.thread
              AND s.place BETWEEN chosen.place - %(reach)s AND chosen.place + %(reach)s
              AND (s.valid_to IS NULL OR s.valid_to > now())
        OFFSET 0) beside {admitted}
    WHERE chosen.place IS NOT NULL {conditions}
)
SELECT w.id, w.thread, w.place, w.length, w.speaker, w.names, w.asks, w.tells_time,
       extract(epoch FROM w.happened_at)::float8, extract(epoch FROM w.created_at)::float8,
       ARRAY[{ranks}]::real[], {cosine}
FROM every CROSS JOIN LATERAL (
    SELECT * FROM episode_search WHERE tenant_id = %(tenant)s AND id = every.id OFFSET 0) w
ORDER BY w.id
"""
OF_AGENT = "AND beside.agent_id = %(agent_id)s"
# Only where the narrow rows do not tell.
ADMITTED_BESIDE = """CROSS JOIN LATERAL (
        SELECT FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = beside.id {conditions} OFFSET 0) e"""
COSINE = """(SELECT 1 - (e.embedding <=> %(query)s::vector) FROM episode_embeddings e
        WHERE e.tenant_id = %(tenant)s AND e.episode_id = w.id AND e.model = %(model)s)"""
RANK = "ts_rank('{{1,1,1,1}}', w.lexemes, %(term{place})s::tsquery)"


@dataclass(frozen=True, slots=True)
class Found:
    """An episode that holds what was searched for: its number of lexemes, and `ts_rank` of each term."""

    id: UUID
    length: int
    ranks: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Trait:
    """What is looked at in a candidate: its moments in seconds since 1970. `cosine` is None while it has no
    vector."""

    id: UUID
    thread: UUID | None
    place: int | None
    length: int
    speaker: str
    names: Sequence[str]
    asks: bool
    tells_time: bool
    happened_at: float
    created_at: float
    ranks: Sequence[float | None]
    cosine: float | None


def find(
    *,
    wanted: str,
    terms: Sequence[str],
    weights: Sequence[float],
    mean_length: float,
    marks: int,
    where: EpisodeFilter,
    most: int,
) -> list[Found]:
    """The `most` promising ones that `wanted` finds, all of them if there are fewer; the tests of the filter
    are not asked. `terms` are what they are scored by, with their `weights`."""
    params: dict[str, Any] = {
        "wanted": wanted,
        "terms": list(terms),
        "weights": list(weights),
        "mean": max(mean_length, 1.0),
        "marks": marks,
        "user_id": where.user_id,
        "agent_id": where.agent_id,
        "history": where.history or where.as_of is not None,
        "project": where.project,
        "session_id": where.session_id,
        "namespace": where.namespace,
        "memory_types": list(where.memory_types) or None,
        "topics": list(where.topics) or None,
        "since": where.since,
        "until": where.until,
        "as_of": where.as_of,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(FIND, params)
        return [Found(*row) for row in cursor.fetchall()]


def admitted(*, tenant_id: UUID, ids: Sequence[UUID], where: EpisodeFilter) -> frozenset[UUID]:
    """Those of the episodes that meet the tests of the filter."""
    params: dict[str, Any] = {"tenant": tenant_id, "ids": f"{{{','.join(map(str, ids))}}}"}
    params |= test_params(where.tests)
    with connection.cursor() as cursor:
        cursor.execute(ADMITTED.format(conditions=joined(test_conditions(where.tests))), params)
        return frozenset(one for (one,) in cursor.fetchall())


def find_among(*, tenant_id: UUID, wanted: str, terms: Sequence[str], where: EpisodeFilter) -> list[Found]:
    """All that `wanted` finds of what the filter admits, in no order. It takes the longer, the more that is:
    for filters that leave little."""
    params: dict[str, Any] = params_of(where) | {"tenant": tenant_id, "wanted": wanted}
    subject, further = conditions_of(where, params)
    ranks = ", ".join(RANK.format(place=place) for place in range(len(terms)))
    statement = FIND_AMONG.format(conditions=joined(subject + further), ranks=ranks)
    with connection.cursor() as cursor:
        cursor.execute(statement, params | {f"term{place}": one for place, one in enumerate(terms)})
        return [Found(*row) for row in cursor.fetchall()]


def count(*, terms: Sequence[str], where: EpisodeFilter) -> list[int]:
    """In how many episodes of the user, agent and project each term stands."""
    params = {
        "terms": list(terms),
        "user_id": where.user_id,
        "agent_id": where.agent_id,
        "project": where.project,
    }
    with connection.cursor() as cursor:
        cursor.execute(COUNT, params)
        return [n for (n,) in cursor.fetchall()]


def figures_of(*, tenant_id: UUID, where: EpisodeFilter) -> tuple[int, int, int, int, list[str]]:
    """Episodes, lexemes, first and last year, and speakers of the user, agent and project."""
    params = {"tenant": tenant_id, "user": where.user_id, "agent": where.agent_id, "project": where.project}
    conditions = " ".join(sql for name, sql in OF_SUBJECT.items() if params[name] is not None)
    with connection.cursor() as cursor:
        cursor.execute(FIGURES.format(conditions=conditions), params)
        documents, lexemes, first, last, speakers = cursor.fetchone()
    return documents, lexemes, first, last, speakers


def owners_in(*, tenant_id: UUID, agent_id: str | None, limit: int) -> list[tuple[str, str]]:
    """At most `limit` pairs of user and agent that episodes belong to, of one agent or of all."""
    with connection.cursor() as cursor:
        cursor.execute(
            OWNERS_OF_AGENT if agent_id else OWNERS,
            {"tenant": tenant_id, "agent": agent_id, "limit": limit},
        )
        return [(user_id, agent) for user_id, agent in cursor.fetchall()]


def owners_among(*, tenant_id: UUID, where: EpisodeFilter, limit: int) -> list[tuple[str, str]] | None:
    """Likewise of what the filter admits; None if that is all of an agent's or of the tenant's."""
    params: dict[str, Any] = params_of(where) | {"tenant": tenant_id, "limit": limit}
    subject, further = conditions_of(where, params)
    if not further:
        return None
    with connection.cursor() as cursor:
        cursor.execute(OWNERS_AMONG.format(conditions=joined(subject + further)), params)
        return [(user_id, agent) for user_id, agent in cursor.fetchall()]


def around(
    *,
    tenant_id: UUID,
    ids: Sequence[UUID],
    terms: Sequence[str],
    query: NDArray[np.float32] | None,
    model: str,
    reach: int,
    beside: EpisodeFilter,
) -> list[Trait]:
    """The episodes with the turns up to `reach` places before and after each, by id; of these turns, those of
    the agent, the project and the types that `beside` names. `ranks` are of the terms, `cosine` is to
    `query`, shape (dimensions,), by `model`, and None for all without a query."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        # As one literal: to adapt each id takes longer than the query.
        "ids": f"{{{','.join(map(str, ids))}}}",
        "query": None if query is None else vector_literal(query),
        "model": model,
        "reach": reach,
    } | {f"term{place}": one for place, one in enumerate(terms)}
    params |= params_of(beside)
    _subject, further = conditions_of(beside, params)
    statement = AROUND.format(
        admitted=ADMITTED_BESIDE.format(conditions=joined(further)) if further else "",
        conditions=OF_AGENT if beside.agent_id is not None else "",
        ranks=", ".join(RANK.format(place=place) for place in range(len(terms))),
        cosine="NULL::float8" if query is None else COSINE,
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return [Trait(*row) for row in cursor.fetchall()]
