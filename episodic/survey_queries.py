"""The SQL of surveys: what of many episodes they are ranked by, in one answer. In an open scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from episodic.conditions import conditions_of, joined, params_of
from episodic.lexemes import in_any
from episodic.models import Episode
from episodic.querysets import COLUMNS
from episodic.types import EpisodeFilter
from episodic.word_queries import RANK
from tenants.embedding import vector_literal

Vector = NDArray[np.float32]
Rows = NDArray[np.void]

# Each table by itself, in one round trip: to plan how they are joined takes longer than to put together here
# what they answer. Each answers one string of bytes: to read a thousand rows takes longer than to find them.
EPISODES = """
SELECT string_agg(uuid_send(id) || timestamptz_send(created_at), '')
FROM agent_episodes WHERE tenant_id = %(tenant)s {conditions}"""
USES = """
SELECT string_agg(uuid_send(id) || timestamptz_send(last_accessed_at), '')
FROM episode_access WHERE tenant_id = %(tenant)s {conditions}"""
VECTORS = """
SELECT string_agg(uuid_send(episode_id) || float8send(embedding <=> %(query)s::vector), '')
FROM episode_embeddings WHERE tenant_id = %(tenant)s AND model = %(model)s {conditions}"""
WORDS = """
SELECT string_agg(uuid_send(id) || int4send(length) || {ranks}, '')
FROM episode_search w WHERE tenant_id = %(tenant)s AND lexemes @@ %(wanted)s::tsquery {conditions}"""
FIELDS = [("id", "V16"), ("created", "f8"), ("used", "f8"), ("distance", "f8"), ("length", "i4")]
MICROSECONDS, SINCE_1970 = 1e6, 946_684_800  # PostgreSQL counts them from the year 2000 on
SUBJECT = {"user_id": "user_id = %(user_id)s", "agent_id": "agent_id = %(agent_id)s"}
CHOSEN = "{column} = ANY(%(ids)s::uuid[])"
EMBEDDED = "NOT embed_pending"

ADMITTED = "SELECT id FROM agent_episodes WHERE tenant_id = %(tenant)s {conditions} LIMIT %(most)s"
COUNT = "SELECT count(*) FROM agent_episodes WHERE tenant_id = %(tenant)s {conditions}"
NEWEST = """
SELECT id, extract(epoch FROM created_at)::float8 FROM agent_episodes
WHERE tenant_id = %(tenant)s {conditions} ORDER BY created_at DESC, id DESC LIMIT %(most)s
"""
# By the index of words, which no policy lets the app role use itself.
HOLDING = """
SELECT count(*) FROM episodes_find(
    %(wanted)s::tsquery, ARRAY[%(wanted)s::tsquery], ARRAY[1.0::float8], 1.0, 1, %(user)s, %(agent)s,
    %(ended)s, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, %(most)s) found {meeting}
"""
MEETING = """WHERE EXISTS (
    SELECT FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = found.id {conditions})"""
MOST = 2**31 - 1
READ = f"""
SELECT {", ".join(f"e.{name}" for name in COLUMNS.split(", "))},
       a.last_accessed_at AS used_at, coalesce(a.access_count, 0) AS uses
FROM unnest(%(ids)s::uuid[]) AS k (id)
CROSS JOIN LATERAL (SELECT * FROM agent_episodes WHERE tenant_id = %(tenant)s AND id = k.id OFFSET 0) e
LEFT JOIN LATERAL (SELECT last_accessed_at, access_count FROM episode_access
                   WHERE tenant_id = %(tenant)s AND id = k.id OFFSET 0) a ON TRUE
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Sought:
    """What is surveyed, of all that `where` admits, which is confined and narrowed: by `vector`, shape
    (dimensions,), what has one by `model`; by `terms`, each a `tsquery`, what holds any of them; by both,
    either."""

    tenant_id: UUID
    where: EpisodeFilter
    vector: Vector | None
    model: str
    terms: Sequence[str] = ()


def survey(sought: Sought, *, ids: Sequence[UUID] | None = None) -> Rows:
    """A row for each in no order: `id`, moments `created` and `used` in seconds since 1970, `distance`, NaN
    without a vector, `length`, and `ranks`, `ts_rank` of each term, 0 where none is held. What was never used
    was last used when it was written. `ids`: of these alone, which `where` admits."""
    params = _params(sought)
    if ids is None:
        subject, further = conditions_of(sought.where, params)
        of_uses = [sql for name, sql in SUBJECT.items() if name in params]
        of_episodes, of_vectors = subject + further, subject
    else:
        params["ids"] = _array(ids)
        of_episodes = of_uses = subject = [CHOSEN.format(column="id")]
        of_vectors = [CHOSEN.format(column="episode_id")]
    statements = [EPISODES.format(conditions=joined(of_episodes)), USES.format(conditions=joined(of_uses))]
    if sought.vector is not None:
        statements.append(VECTORS.format(conditions=joined(of_vectors)))
    if sought.terms:
        ranks = " || ".join(f"float4send({RANK.format(place=place)})" for place in range(len(sought.terms)))
        statements.append(WORDS.format(ranks=ranks, conditions=joined(subject)))
    with connection.cursor() as cursor:
        cursor.execute(";".join(statements), params)
        return _together(sought, cursor)


def admitted_ids(sought: Sought, *, most: int) -> list[UUID]:
    """Of what the filter admits, at most so many, in no order."""
    return [one for (one,) in _fetch(ADMITTED, sought, {"most": most})]


def newest(sought: Sought, *, most: int) -> dict[UUID, float]:
    """The ids of those that were written last, and when, in seconds since 1970."""
    return dict(_fetch(NEWEST, sought, {"most": most}))


def count_embedded(sought: Sought) -> int:
    """How many the filter admits that have their vectors."""
    ((count,),) = _fetch(COUNT, sought, {}, EMBEDDED)
    return int(count)


def count_holding(sought: Sought) -> int:
    """How many hold any of the terms, of what the filter admits."""
    params, where = _params(sought), sought.where
    _subject, further = conditions_of(where, params)
    params |= {"user": where.user_id, "agent": where.agent_id, "most": MOST}
    params["ended"] = where.history or where.as_of is not None
    meeting = MEETING.format(conditions=joined(further)) if further else ""
    with connection.cursor() as cursor:
        cursor.execute(HOLDING.format(meeting=meeting), params)
        (count,) = cursor.fetchone()
    return int(count)


def read(*, tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, tuple[Episode, datetime | None, int]]:
    """Those that are there, each with when it was last used, and how often."""
    found: Any = Episode.objects.raw(READ, {"tenant": tenant_id, "ids": _array(ids)})
    return {one.id: (one, one.used_at, one.uses) for one in found}


def _fetch(
    statement: str, sought: Sought, further: dict[str, Any], *conditions: str
) -> list[tuple[Any, ...]]:
    params = _params(sought) | further
    subject, others = conditions_of(sought.where, params)
    with connection.cursor() as cursor:
        cursor.execute(statement.format(conditions=joined([*subject, *others, *conditions])), params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _params(sought: Sought) -> dict[str, Any]:
    params = params_of(sought.where) | {"tenant": sought.tenant_id, "model": sought.model}
    if sought.vector is not None:
        params["query"] = vector_literal(sought.vector)
    if sought.terms:
        params["wanted"] = in_any(sought.terms)
    return params | {f"term{place}": one for place, one in enumerate(sought.terms)}


def _array(ids: Sequence[UUID]) -> str:
    """As one literal: to adapt each id takes longer than the query."""
    return f"{{{','.join(map(str, ids))}}}"


def _together(sought: Sought, cursor: Any) -> Rows:
    """What the statements answer, in one row for each episode that has what is searched by."""
    terms = len(sought.terms)
    episodes = _unpacked(cursor, ("created", ">i8"))
    rows = np.zeros(len(episodes), dtype=[*FIELDS, ("ranks", "f4", (terms,))])
    rows["id"], rows["distance"] = episodes["id"], np.nan
    rows["used"] = rows["created"] = _seconds(episodes["created"])
    places = {one: place for place, one in enumerate(episodes["id"].tolist())}
    is_found = np.zeros(len(rows), dtype=np.bool_)
    used, at = _next(cursor, places, ("used", ">i8"))
    rows["used"][at] = _seconds(used["used"])
    if sought.vector is not None:
        near, at = _next(cursor, places, ("distance", ">f8"))
        rows["distance"][at], is_found[at] = near["distance"], True
    if terms:
        held, at = _next(cursor, places, ("length", ">i4"), ("ranks", ">f4", (terms,)))
        rows["length"][at], rows["ranks"][at], is_found[at] = held["length"], held["ranks"], True
    return rows if is_found.all() else rows[is_found]


def _next(cursor: Any, places: Mapping[bytes, int], *fields: Any) -> tuple[Rows, NDArray[np.intp]]:
    """What the next statement answers of the episodes that have a place, and their places."""
    cursor.nextset()
    found = _unpacked(cursor, *fields)
    at = np.array([places.get(one, -1) for one in found["id"].tolist()], dtype=np.intp)
    is_there = at >= 0
    return (found, at) if is_there.all() else (found[is_there], at[is_there])


def _unpacked(cursor: Any, *fields: Any) -> Rows:
    (packed,) = cursor.fetchone()
    return np.frombuffer(packed or b"", dtype=[("id", "V16"), *fields])


def _seconds(microseconds: NDArray[Any]) -> NDArray[np.float64]:
    seconds: NDArray[np.float64] = microseconds / MICROSECONDS + SINCE_1970
    return seconds
