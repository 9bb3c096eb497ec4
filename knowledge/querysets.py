"""The SQL of documents: locks, chunks written many at a time, keyword candidates, nearest neighbours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
from django.db import connection, connections
from django.db.models import Count
from numpy.typing import NDArray

from knowledge.models import Chunk, ChunkEmbedding, Document
from knowledge.types import Reach
from lexical.tsvector import IndexedText
from tenants.embedding import vector_literal

T = TypeVar("T")
TOGETHER = 500  # rows that one statement writes
FAR_AWAY = 1_000_000_000  # positions that no chunk has
LOCK = "SELECT pg_advisory_xact_lock(%s)"
# What the transaction reads from here on is of one moment.
FREEZE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"

INSERT = """
INSERT INTO knowledge_chunk (id, tenant_id, document_id, project, user_id, position, heading, text, page,
                             length, lexemes, embed_pending, created_at)
SELECT id, %(tenant)s, %(document)s, %(project)s, %(user)s, position, heading, text, page, length,
       lexemes::tsvector, true, %(now)s
FROM unnest(%(ids)s::uuid[], %(positions)s::int[], %(headings)s::text[], %(texts)s::text[],
            %(pages)s::int[], %(lengths)s::int[], %(lexemes)s::text[])
    AS new (id, position, heading, text, page, length, lexemes)
"""
MOVE = """
UPDATE knowledge_chunk c SET position = new.position, page = new.page
FROM unnest(%(ids)s::uuid[], %(positions)s::int[], %(pages)s::int[]) AS new (id, position, page)
WHERE c.tenant_id = %(tenant)s AND c.id = new.id
"""
# First of all moved ones: the place of one may be that of another.
CLEAR = """
UPDATE knowledge_chunk SET position = position + %(far)s WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s)
"""
FIND = """
SELECT id, length, counts FROM chunks_find(
    %(project)s, %(user)s, %(wanted)s::tsquery, %(terms)s::text[]::tsquery[], %(weights)s::float8[], %(mean)s,
    %(documents)s::uuid[], %(most)s)
"""
COUNT = "SELECT n FROM chunks_count(%(project)s, %(user)s, %(terms)s::text[]::tsquery[]) n"

IN_PROJECT = " AND project IN ('', %(project)s)"
OF_USER = " AND user_id IN ('', %(user)s)"
SIZE = (
    "SELECT count(*), coalesce(sum(length), 0) FROM knowledge_chunk WHERE tenant_id = %(tenant)s{conditions}"
)
VECTORS = "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'chunk_embeddings'::regclass"
MINE = "tenant_id = %(tenant)s AND model = %(model)s{conditions}"
EXACT = f"""
SELECT chunk_id, 1 - (embedding <=> %(query)s::vector) FROM chunk_embeddings
WHERE {MINE} ORDER BY (embedding <=> %(query)s::vector) + 0, chunk_id LIMIT %(limit)s
"""  # noqa: S608
# By the index of migrations/0002, going on until enough are found. Not in strict
# order, in which what comes late is dropped, and half of the best with it; they are compared exactly then.
APPROXIMATE = f"""
SET LOCAL hnsw.ef_search = 200; SET LOCAL hnsw.iterative_scan = relaxed_order;
SELECT chunk_id, 1 - (embedding <=> %(query)s::vector) FROM (
    SELECT chunk_id, embedding FROM chunk_embeddings WHERE {MINE}
    ORDER BY embedding::halfvec({{dimensions}}) <=> %(query)s::halfvec({{dimensions}})
    LIMIT 4 * %(limit)s) found
ORDER BY embedding <=> %(query)s::vector, chunk_id LIMIT %(limit)s
"""  # noqa: S608
# An array, not a join, as in `episodic.querysets`.
AMONG = """
 AND chunk_id = ANY (ARRAY(SELECT id FROM knowledge_chunk
                           WHERE tenant_id = %(tenant)s AND document_id = ANY(%(documents)s)))
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that holds what was searched for: its number of lexemes, and how often it holds each term."""

    id: UUID
    length: int
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class Size:
    """How many chunks there are, and how many lexemes they hold together."""

    chunks: int
    lexemes: int


@dataclass(frozen=True, slots=True)
class NewChunk:
    """A chunk before it is stored."""

    id: UUID
    position: int
    heading: str
    text: str
    page: int | None
    indexed: IndexedText


def lock(key: int, *, as_admin: bool = False) -> None:
    """Takes the advisory lock until the open transaction ends."""
    with connections["admin" if as_admin else "default"].cursor() as cursor:
        cursor.execute(LOCK, [key])


def freeze() -> None:
    """The open scope, of which this must be the first statement, sees what was committed before it alone."""
    with connection.cursor() as cursor:
        cursor.execute(FREEZE)


def insert_chunks(document: Document, chunks: Sequence[NewChunk], *, now: datetime) -> None:
    """Stores new chunks of the document, to be embedded."""
    params: dict[str, Any] = {
        "tenant": document.tenant_id,
        "document": document.id,
        "project": document.project,
        "user": document.user_id,
        "now": now,
    }
    with connection.cursor() as cursor:
        for some in _batches(chunks):
            columns = {
                "ids": [one.id for one in some],
                "positions": [one.position for one in some],
                "headings": [one.heading for one in some],
                "texts": [one.text for one in some],
                "pages": [one.page for one in some],
                "lengths": [one.indexed.length for one in some],
                "lexemes": [one.indexed.vector for one in some],
            }
            cursor.execute(INSERT, params | columns)


def move_chunks(tenant_id: UUID, places: Sequence[tuple[UUID, int, int | None]]) -> None:
    """Gives chunks of one document, by id, another position and page."""
    with connection.cursor() as cursor:
        for some in _batches(places):
            cursor.execute(CLEAR, {"far": FAR_AWAY, "tenant": tenant_id, "ids": [one for one, _, _ in some]})
        for some in _batches(places):
            ids, positions, pages = (list(column) for column in zip(*some, strict=True))
            cursor.execute(MOVE, {"tenant": tenant_id, "ids": ids, "positions": positions, "pages": pages})


def pending_of(tenant_id: UUID, document_ids: Sequence[UUID]) -> dict[UUID, int]:
    """How many chunks of each document have no vector yet; those without any such are missing."""
    waiting = Chunk.objects.filter(tenant_id=tenant_id, embed_pending=True, document_id__in=document_ids)
    return dict(waiting.values_list("document_id").annotate(n=Count("id")).order_by())


def find(
    *,
    reach: Reach,
    wanted: str,
    terms: Sequence[str],
    weights: Sequence[float],
    mean_length: float,
    documents: Sequence[UUID] | None,
    most: int,
) -> list[Candidate]:
    """The `most` promising chunks that `wanted` finds. `terms` are what they are scored by."""
    params = _seen(reach) | {
        "wanted": wanted,
        "terms": list(terms),
        "weights": list(weights),
        "mean": max(mean_length, 1.0),
        "documents": None if documents is None else list(documents),
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(FIND, params)
        return [Candidate(*row) for row in cursor.fetchall()]


def count(*, reach: Reach, terms: Sequence[str]) -> list[int]:
    """How many chunks hold each term."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, _seen(reach) | {"terms": list(terms)})
        return [n for (n,) in cursor.fetchall()]


def size_of(reach: Reach) -> Size:
    """How much is seen."""
    with connection.cursor() as cursor:
        cursor.execute(SIZE.format(conditions=_conditions(reach)), _seen(reach) | {"tenant": reach.tenant_id})
        return Size(*cursor.fetchone())


def count_vectors() -> int:
    """About how many vectors all tenants have together, as PostgreSQL estimates it."""
    with connection.cursor() as cursor:
        cursor.execute(VECTORS)
        (vectors,) = cursor.fetchone()
    return int(vectors)


def nearest(
    *,
    reach: Reach,
    model: str,
    query: NDArray[np.float32],
    documents: Sequence[UUID] | None,
    limit: int,
    exact: bool,
) -> dict[UUID, float]:
    """Ids and cosine similarities of the `limit` chunks nearest to `query`, shape (dimensions,)."""
    conditions = _conditions(reach) + (AMONG if documents is not None else "")
    params = _seen(reach) | {
        "tenant": reach.tenant_id,
        "model": model,
        "query": vector_literal(query),
        "documents": list(documents or ()),
        "limit": limit,
    }
    statement = EXACT if exact else APPROXIMATE
    with connection.cursor() as cursor:
        cursor.execute(statement.format(conditions=conditions, dimensions=len(query)), params)
        while cursor.description is None:  # what SET answers
            cursor.nextset()
        return {chunk_id: float(cosine) for chunk_id, cosine in cursor.fetchall()}


def chunks_by_id(tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Chunk]:
    """The chunks without what they are found by."""
    found = Chunk.objects.filter(tenant_id=tenant_id, id__in=ids).defer("lexemes")
    return found.in_bulk()


def store_vectors(rows: Sequence[ChunkEmbedding]) -> None:
    """Keeps them; two workers may have made the same."""
    ChunkEmbedding.objects.bulk_create(rows, ignore_conflicts=True)


def _seen(reach: Reach) -> dict[str, Any]:
    return {"project": reach.project, "user": reach.user_id}


def _conditions(reach: Reach) -> str:
    return (IN_PROJECT if reach.project is not None else "") + (OF_USER if reach.user_id is not None else "")


def _batches(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[at : at + TOGETHER] for at in range(0, len(rows), TOGETHER))
