"""The SQL of observations: locks, filters, keyword candidates, corpus sizes, nearest neighbours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import BooleanField, OuterRef, Q, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.lookups import Exact
from numpy.typing import NDArray

from observations.lexemes import IndexedText
from observations.models import Observation, SearchEntry
from observations.types import GLOBAL, ObservationFilter
from tenants.embedding import vector_literal

# In one order for all, so that two writers never wait for each other.
LOCK = "SELECT pg_advisory_xact_lock(k) FROM unnest(%s::bigint[]) k"

WRITE_ENTRY = """
INSERT INTO observation_search (id, tenant_id, corpus, user_id, scope, type, created_at, length, lexemes)
VALUES (%(id)s, %(tenant)s, %(corpus)s, %(user)s, %(scope)s, %(type)s, %(created)s, %(length)s,
        %(lexemes)s::tsvector)
ON CONFLICT (tenant_id, id) DO UPDATE SET corpus = EXCLUDED.corpus, scope = EXCLUDED.scope,
    type = EXCLUDED.type, length = EXCLUDED.length, lexemes = EXCLUDED.lexemes
"""

FIND = """
SELECT id, length, ranks FROM observations_find(
    %(wanted)s::tsquery, %(terms)s::text[]::tsquery[], %(weights)s::float8[], %(mean)s,
    %(corpora)s::text[], %(user)s, %(scope)s, %(type)s, %(tags)s::text[], %(session)s, %(since)s, %(until)s,
    %(most)s)
"""
# All of them, whatever their rank: the one term is in no text, and the newest come first.
HOLDING = """
SELECT id FROM observations_find(%s::tsquery, ARRAY[''::tsquery], ARRAY[0::float8], 1, %s::text[], %s, %s, %s,
                                 %s::text[], %s, %s, %s, 2147483647)
"""
COUNT = "SELECT n FROM observations_count(%(terms)s::text[]::tsquery[], %(corpora)s::text[], %(user)s) n"

SIZE = """
SELECT count(*), coalesce(sum(length), 0) FROM observation_search
WHERE tenant_id = %(tenant)s AND corpus = ANY(%(corpora)s)
"""
# One step of the index for each, from the first on: DISTINCT would read every entry.
CORPORA = """
WITH RECURSIVE found AS (
    (SELECT corpus FROM observation_search WHERE tenant_id = %(tenant)s ORDER BY corpus LIMIT 1)
    UNION ALL
    SELECT later.corpus FROM found CROSS JOIN LATERAL (
        SELECT corpus FROM observation_search WHERE tenant_id = %(tenant)s AND corpus > found.corpus
        ORDER BY corpus LIMIT 1) AS later
)
SELECT corpus FROM found
"""

# Likewise of the live rows' projects or types.
NAMES = """
WITH RECURSIVE found AS (
    (SELECT {column} AS name FROM observations_observation WHERE tenant_id = %(tenant)s AND deleted_at IS NULL
     ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT later.name FROM found CROSS JOIN LATERAL (
        SELECT {column} AS name FROM observations_observation
        WHERE tenant_id = %(tenant)s AND deleted_at IS NULL AND {column} > found.name
        ORDER BY {column} LIMIT 1) AS later
)
SELECT name FROM found LIMIT %(limit)s
"""

# Of what is imported, by position: what is here already, live or in the trash, each by an index of its own.
# Exports tell whole seconds.
SAME = """
SELECT FROM observations_observation o
WHERE o.tenant_id = %(tenant)s AND o.user_id = g.user_id AND o.project = g.project
      AND o.normalized_hash = g.digest AND o.session = g.session AND o.type = g.type AND o.title = g.title
      AND o.created_at >= g.second AND o.created_at < g.second + interval '1 second'
"""
KNOWN = f"""
SELECT g.place FROM unnest(%(places)s::int[], %(users)s::text[], %(projects)s::text[], %(sessions)s::text[],
                           %(types)s::text[], %(titles)s::text[], %(digests)s::text[],
                           %(moments)s::timestamptz[])
    AS g (place, user_id, project, session, type, title, digest, second)
WHERE EXISTS ({SAME} AND o.deleted_at IS NULL) OR EXISTS ({SAME} AND o.deleted_at IS NOT NULL)
"""  # noqa: S608

# Written out: to have the ORM compose it at every search costs more than PostgreSQL takes to answer.
COLUMNS = ", ".join(field.column for field in Observation._meta.concrete_fields if field.column)
LIVE_BY_ID = f"""
SELECT {COLUMNS} FROM observations_observation
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s) AND deleted_at IS NULL
"""  # noqa: S608

MINE = "tenant_id = %(tenant)s AND corpus = ANY(%(corpora)s) AND model = %(model)s{conditions}"
# Every vector is compared: the approximate index is one of half-precision.
EXACT = f"""
SELECT observation_id, 1 - (embedding <=> %(query)s::vector) FROM observation_embeddings
WHERE {MINE} ORDER BY embedding <=> %(query)s::vector, observation_id LIMIT %(limit)s
"""  # noqa: S608
# By the index of migrations/0001, going on until enough of the corpus are found. Not in strict
# order, in which what comes late is dropped, and half of the best with it; they are compared exactly then.
APPROXIMATE = f"""
SET LOCAL hnsw.ef_search = 200; SET LOCAL hnsw.iterative_scan = relaxed_order;
SELECT observation_id, 1 - (embedding <=> %(query)s::vector) FROM (
    SELECT observation_id, embedding FROM observation_embeddings WHERE {MINE}
    ORDER BY embedding::halfvec({{dimensions}}) <=> %(query)s::halfvec({{dimensions}})
    LIMIT 4 * %(limit)s) found
ORDER BY embedding <=> %(query)s::vector, observation_id LIMIT %(limit)s
"""  # noqa: S608
# An array, not a join, as in `episodic.querysets`.
AMONG = " AND observation_id = ANY (ARRAY(SELECT id FROM observations_observation WHERE {conditions}))"
VECTORS = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'observation_embeddings'::regclass"
# As bytes, behind their head, and in one row: to read each as text takes five times as long.
VECTORS_OF = """
SELECT array_agg(observation_id ORDER BY observation_id),
       string_agg(substring(vector_send(embedding) FROM 5), ''::bytea ORDER BY observation_id)
FROM observation_embeddings WHERE tenant_id = %(tenant)s AND observation_id = ANY(%(ids)s)
GROUP BY model ORDER BY count(*) DESC, model LIMIT 1
"""

ROW_CONDITIONS = {
    "scope": "scope = %(scope)s",
    "type": "type = %(type)s",
    "tags": "tags @> %(tags)s",
    "session": "session = %(session)s",
    "since": "created_at >= %(since)s",
    "until": "created_at <= %(until)s",
}
FIND_ORDER = ("scope", "type", "tags", "session", "since", "until")  # of the function's arguments


@dataclass(frozen=True, slots=True)
class Candidate:
    """An observation that holds what was searched for: its number of lexemes, and `ts_rank` of each term."""

    id: int
    length: int
    ranks: Sequence[float | None]


def lock(keys: Iterable[int]) -> None:
    """Takes the advisory locks until the open scope ends."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [sorted(keys)])


def corpus_of(observation: Observation) -> str:
    """What its lexemes are counted among: its project's, or those that every project sees."""
    return "" if observation.scope == GLOBAL else observation.project


def write_entry(observation: Observation, text: IndexedText) -> None:
    """Makes the observation findable by its words; what it said before is found no more."""
    params: dict[str, Any] = {
        "id": observation.id,
        "tenant": observation.tenant_id,
        "corpus": corpus_of(observation),
        "user": observation.user_id,
        "scope": observation.scope,
        "type": observation.type,
        "created": observation.created_at,
        "length": text.length,
        "lexemes": text.vector,
    }
    with connection.cursor() as cursor:
        cursor.execute(WRITE_ENTRY, params)


def find(
    *,
    wanted: str,
    terms: Sequence[str],
    weights: Sequence[float],
    mean_length: float,
    corpora: Sequence[str],
    where: ObservationFilter,
    most: int,
) -> list[Candidate]:
    """The `most` promising ones that `wanted` finds, all of them if there are fewer. `terms`, at most
    `lexical.matching.MOST_TERMS` of them, are what they are scored by, with their `weights`."""
    params = _row_params(where) | {
        "wanted": wanted,
        "terms": list(terms),
        "weights": list(weights),
        "mean": max(mean_length, 1.0),
        "corpora": list(corpora),
        "user": where.user_id or None,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(FIND, params)
        return [Candidate(*row) for row in cursor.fetchall()]


def holding(*, wanted: str, corpora: Sequence[str], where: ObservationFilter) -> Q:
    """The condition on rows that `wanted` finds them in the index."""
    row = _row_params(where)
    params = [wanted, list(corpora), where.user_id or None, *(row[name] for name in FIND_ORDER)]
    return Q(id__in=RawSQL(HOLDING, params))  # noqa: S611


def still_holding(*, tenant_id: UUID, wanted: str) -> Q:
    """The same, looked at row by row: for few of them."""
    is_held = RawSQL("lexemes @@ %s::tsquery", [wanted], output_field=BooleanField())
    entry = SearchEntry.objects.filter(tenant_id=tenant_id, id=OuterRef("id"))
    return Q(Exact(Subquery(entry.annotate(is_held=is_held).values("is_held")), True))


def count(*, terms: Sequence[str], corpora: Sequence[str], user_id: str) -> list[int]:
    """How many observations hold each term."""
    params = {"terms": list(terms), "corpora": list(corpora), "user": user_id or None}
    with connection.cursor() as cursor:
        cursor.execute(COUNT, params)
        return [n for (n,) in cursor.fetchall()]


def size_of(*, tenant_id: UUID, corpora: Sequence[str], user_id: str) -> tuple[int, int]:
    """How many observations the corpora hold, and how many lexemes these hold together."""
    sql = SIZE + (" AND user_id = %(user)s" if user_id else "")
    with connection.cursor() as cursor:
        cursor.execute(sql, {"tenant": tenant_id, "corpora": list(corpora), "user": user_id})
        documents, lexemes = cursor.fetchone()
    return documents, lexemes


def corpora_in(tenant_id: UUID) -> list[str]:
    """Every corpus of the tenant."""
    with connection.cursor() as cursor:
        cursor.execute(CORPORA, {"tenant": tenant_id})
        return [corpus for (corpus,) in cursor.fetchall()]


def names_in(tenant_id: UUID, column: Literal["project", "type"], limit: int) -> list[str]:
    """The first so many that live observations have there, by name."""
    with connection.cursor() as cursor:
        cursor.execute(NAMES.format(column=column), {"tenant": tenant_id, "limit": limit})
        return [name for (name,) in cursor.fetchall()]


def count_vectors() -> int:
    """About how many vectors all tenants have together, as PostgreSQL estimates it."""
    with connection.cursor() as cursor:
        cursor.execute(VECTORS)
        (vectors,) = cursor.fetchone()
    return int(vectors)


def nearest(
    *,
    tenant_id: UUID,
    model: str,
    query: NDArray[np.float32],
    corpora: Sequence[str],
    where: ObservationFilter,
    limit: int,
    exact: bool,
) -> dict[int, float]:
    """Ids and cosine similarities of the `limit` nearest to `query`, shape (dimensions,)."""
    params = {name: value for name, value in _row_params(where).items() if value is not None} | {
        "tenant": tenant_id,
        "model": model,
        "query": vector_literal(query),
        "corpora": list(corpora),
        "user": where.user_id,
        "limit": limit,
    }
    conditions = " AND user_id = %(user)s" if where.user_id else ""
    if rows := [sql for name, sql in ROW_CONDITIONS.items() if name in params]:
        conditions += AMONG.format(conditions=" AND ".join(["tenant_id = %(tenant)s", *rows]))
    statement = EXACT if exact else APPROXIMATE
    with connection.cursor() as cursor:
        cursor.execute(statement.format(conditions=conditions, dimensions=len(query)), params)
        while cursor.description is None:  # what SET answers
            cursor.nextset()
        return {observation_id: float(cosine) for observation_id, cosine in cursor.fetchall()}


def vectors_of(*, tenant_id: UUID, ids: Sequence[int]) -> dict[int, NDArray[np.float32]]:
    """The vectors of these by one model, that of the most of them."""
    with connection.cursor() as cursor:
        cursor.execute(VECTORS_OF, {"tenant": tenant_id, "ids": list(ids)})
        found = cursor.fetchone()
    if found is None:
        return {}
    known, numbers = found
    matrix = np.frombuffer(numbers, dtype=">f4").astype(np.float32).reshape(len(known), -1)
    return dict(zip(known, matrix, strict=True))


def matching(*, tenant_id: UUID, where: ObservationFilter) -> Q:
    """The conditions on the rows themselves, the project apart."""
    columns = {"tags": "tags__contains", "since": "created_at__gte", "until": "created_at__lte"}
    given = _row_params(where) | {"user_id": where.user_id or None}
    return Q(
        tenant_id=tenant_id,
        **{columns.get(name, name): value for name, value in given.items() if value is not None},
    )


def _row_params(where: ObservationFilter) -> dict[str, Any]:
    """What is asked of a row; None is nothing."""
    return {
        "scope": where.scope or None,
        "type": where.type or None,
        "tags": list(where.tags) or None,
        "session": where.session_id or None,
        "since": where.since,
        "until": where.until,
    }


def visible_in(where: ObservationFilter) -> Q:
    """What is seen from the filter's project: its own, and every project's global ones."""
    if not where.project or where.scope == GLOBAL:
        return Q()
    return Q(project=where.project) | Q(scope=GLOBAL)


def live_by_id(*, tenant_id: UUID, ids: Sequence[int]) -> dict[int, Observation]:
    """The rows of those that are not in the trash."""
    if not ids:
        return {}
    found = Observation.objects.raw(LIVE_BY_ID, {"tenant": tenant_id, "ids": list(ids)})
    return {row.id: row for row in found}


def known_among(*, tenant_id: UUID, rows: Sequence[Observation]) -> set[int]:
    """The positions of those, not stored yet, that were imported before: the same user, project, session,
    type, title and content, made in the same second."""
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "places": list(range(len(rows))),
        "users": [row.user_id for row in rows],
        "projects": [row.project for row in rows],
        "sessions": [row.session for row in rows],
        "types": [row.type for row in rows],
        "titles": [row.title for row in rows],
        "digests": [row.normalized_hash for row in rows],
        "moments": [row.created_at.replace(microsecond=0) for row in rows],
    }
    with connection.cursor() as cursor:
        cursor.execute(KNOWN, params)
        return {place for (place,) in cursor.fetchall()}
