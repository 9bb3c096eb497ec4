"""The SQL of items. What one call reads is one statement, which answers JSON as it goes to the client: no row
becomes an object on the way, and what expires is put off in the same round trip."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic.item_types import (
    Distance,
    ItemGet,
    ItemRead,
    ItemScope,
    ItemSearch,
    NamespaceList,
    Path,
    path_text,
)
from tenants.errors import Invalid
from tenants.scope import fetch_alone

READS: Final = 50  # of one statement: to plan more of them takes longer than to ask again
MOST_LABELS: Final = 20

MOMENT = """to_char({} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
SHOWN = f"""json_build_object('namespace', string_to_array(rtrim(i.path, '.'), '.'), 'key', i.key,
    'value', i.value, 'created_at', {MOMENT.format("i.created_at")},
    'updated_at', {MOMENT.format("i.updated_at")}{{score}})"""
HOLDS = "i.valid_to IS NULL AND (i.expires_at IS NULL OR i.expires_at > %(now)s)"
OF_SCOPE = (
    "i.tenant_id = %(tenant)s AND i.user_id = {user} AND i.agent_id = {agent} AND i.project = {project}"
    f" AND {HOLDS}"
)
# Texts that begin with `a.` are those from `a.` up to `a/`: that character follows the dot.
BELOW = "i.path >= {path} AND i.path < {end}"

GET = f"""
SELECT i.id, i.ttl_minutes, i.digest AS name, {SHOWN.format(score="")} AS shown
FROM store_items i
WHERE i.tenant_id = %(tenant)s AND i.user_id = {{user}} AND i.digest = ANY({{digests}}::text[]) AND {HOLDS}
"""  # noqa: S608
NEWEST = f"""
SELECT i.id, i.ttl_minutes, row_number() OVER (ORDER BY i.updated_at DESC, i.id DESC) AS place,
       {SHOWN.format(score=", 'score', NULL")} AS shown
FROM (SELECT * FROM store_items i WHERE {{conditions}}
      ORDER BY i.updated_at DESC, i.id DESC LIMIT {{limit}} OFFSET {{offset}}) i
"""  # noqa: S608
# An array, not a join: on a table that was just filled and not analysed yet, the planner takes both sides for
# one row. A vector that has no direction is like none.
NEAREST = f"""
SELECT i.id, i.ttl_minutes, row_number() OVER (ORDER BY near.distance, near.id DESC) AS place,
       {SHOWN.format(score=", 'score', {score}")} AS shown
FROM ({{nearest}} LIMIT {{limit}} OFFSET {{offset}}) near
JOIN store_items i ON i.tenant_id = %(tenant)s AND i.id = near.id
"""  # noqa: S608
BY_SERVER = """
SELECT v.episode_id AS id, nullif(v.embedding {operator} {query}::vector, 'NaN') AS distance
FROM episode_embeddings v
WHERE v.tenant_id = %(tenant)s AND v.model = {model}
  AND v.episode_id = ANY (ARRAY(SELECT i.id FROM store_items i WHERE {conditions}))
ORDER BY distance, id DESC
"""
# Of more items than that the signs of their vectors are compared first, which stand in an index, and then the
# vectors of those that differ least. The items that are meant are looked up in a hash table, not joined, for
# the reason above; the planner makes none that it takes for larger than its memory, and reads them once for
# each vector then.
ALL_UP_TO: Final = 5_000
BY_SIGNATURES = """
(WITH mine AS MATERIALIZED (SELECT i.id FROM store_items i WHERE {conditions})
SELECT v.episode_id AS id, nullif(v.embedding {operator} {query}::vector, 'NaN') AS distance
FROM episode_embeddings v
WHERE v.tenant_id = %(tenant)s AND v.model = {model} AND v.episode_id = ANY (
    CASE WHEN (SELECT count(*) FROM mine) <= {all_up_to} THEN ARRAY(SELECT id FROM mine)
    ELSE ARRAY(
        SELECT s.episode_id FROM episode_embeddings s
        WHERE s.tenant_id = %(tenant)s AND s.user_id = {user} AND s.model = {model}
              AND (s.episode_id IN (SELECT id FROM mine)) IS TRUE
        ORDER BY s.signature::bit({dimensions}) <~> binary_quantize({query}::vector)::bit({dimensions}),
                 s.episode_id DESC
        LIMIT {promising}) END)
ORDER BY distance, id DESC)
"""
WITH_MEMORY = "SET LOCAL hash_mem_multiplier = 32; "
BY_CLIENT = """
SELECT v.item_id AS id, min(nullif(v.embedding {operator} {query}::vector, 'NaN')) AS distance
FROM store_vectors v
WHERE v.tenant_id = %(tenant)s AND v.dimensions = {dimensions}
  AND v.item_id = ANY (ARRAY(SELECT i.id FROM store_items i WHERE {conditions}))
GROUP BY v.item_id ORDER BY distance, id DESC
"""
NAMESPACES = """
SELECT to_json(labels) AS shown, row_number() OVER (ORDER BY labels) AS place
FROM (SELECT DISTINCT (labels)[1:{depth}] COLLATE "C" AS labels
      FROM (SELECT DISTINCT string_to_array(rtrim(i.path, '.'), '.') AS labels FROM store_items i
            WHERE {conditions}) known
      WHERE {matches}
      ORDER BY labels LIMIT {limit} OFFSET {offset}) listed
"""
OPERATORS: dict[Distance, tuple[str, str]] = {  # with the score that a distance is
    "cosine": ("<=>", "1 - near.distance"),
    "l2": ("<->", "-near.distance"),
    "inner_product": ("<#>", "-near.distance"),
}
COMPARED = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}

# A read put the end of these off; what has none is left alone. It waits for nobody: who is busy with one of
# them puts it, deletes it, or puts its end off as well.
PUT_OFF = """
, put_off AS (
    UPDATE store_items SET expires_at = %(now)s + make_interval(secs => ttl_minutes * 60)
    WHERE tenant_id = %(tenant)s AND id = ANY (ARRAY(
        SELECT id FROM store_items WHERE tenant_id = %(tenant)s AND id = ANY (ARRAY({ids}))
        FOR NO KEY UPDATE SKIP LOCKED))
)"""
TO_PUT_OFF = "SELECT id FROM op{number} WHERE ttl_minutes IS NOT NULL"
ROWS_OF: dict[type[ItemRead], str] = {
    ItemGet: "(SELECT array_agg(ARRAY[name, shown::text]) FROM op{number})",
    ItemSearch: "(SELECT coalesce(json_agg(shown ORDER BY place), '[]')::text FROM op{number})",
    NamespaceList: "(SELECT coalesce(json_agg(shown ORDER BY place), '[]')::text FROM op{number})",
}

UPSERT = """
INSERT INTO store_items ({columns})
SELECT {columns} FROM json_populate_recordset(NULL::store_items, %(rows)s::json)
ORDER BY id -- as everybody locks several
ON CONFLICT (tenant_id, id) DO UPDATE SET
    value = excluded.value, fields = excluded.fields, ttl_minutes = excluded.ttl_minutes,
    expires_at = excluded.expires_at, valid_to = NULL, updated_at = excluded.updated_at,
    created_at = CASE WHEN store_items.expires_at <= %(now)s THEN excluded.created_at
                 ELSE store_items.created_at END
"""


class Reading:
    """A statement that is being put together: several reads, of which each is a table expression."""

    def __init__(self, *, tenant_id: UUID, now: datetime) -> None:
        self._tenant_id = tenant_id
        self._params: dict[str, Any] = {"tenant": tenant_id, "now": now}
        self._parts: list[str] = []
        self._answers: list[str] = []
        self._refreshed: list[str] = []
        self._before = ""

    def get(self, *, user_id: str, digests: Sequence[str], refresh: bool) -> None:
        """Items of one user. Answered are pairs of the digest and the item's JSON; None without any."""
        self._add(ItemGet, GET.format(user=self._named(user_id), digests=self._named(list(digests))), refresh)

    def search(self, asked: ItemSearch, *, query: str, model: str, dimensions: int, promising: int) -> None:
        """Likewise below a namespace, as a JSON array, best first. `query`: the vector as pgvector reads it,
        by the server's `model`, or by the client's if there is none; empty: what was put last. `promising`:
        how many are compared exactly after a first pass; 0: all."""
        conditions = self._of(asked.whose, asked.prefix) + list(self._tests(asked.where))
        page = {"limit": self._named(asked.limit), "offset": self._named(asked.offset)}
        if not query:
            sql = NEWEST.format(conditions=" AND ".join(conditions), **page)
        else:
            operator, score = OPERATORS[asked.distance]
            if promising:
                self._before = WITH_MEMORY
            way = BY_SIGNATURES if promising else BY_SERVER if model else BY_CLIENT
            nearest = way.format(
                operator=operator,
                query=self._named(query),
                model=self._named(model),
                dimensions=self._named(dimensions),
                conditions=" AND ".join(conditions),
                all_up_to=ALL_UP_TO,
                user=self._named(asked.whose.user_id),
                promising=self._named(promising),
            )
            sql = NEAREST.format(nearest=nearest, score=score, **page)
        self._add(ItemSearch, sql, asked.refresh)

    def namespaces(self, asked: NamespaceList) -> None:
        """Likewise namespaces, in order."""
        known = next((one.path for one in asked.matches if one.match_type == "prefix"), ())
        conditions = self._of(asked.whose, known[: known.index("*")] if "*" in known else known)
        matches = [test for one in asked.matches for test in self._matching(one.match_type, one.path)]
        sql = NAMESPACES.format(
            depth=self._named(asked.max_depth or MOST_LABELS),
            conditions=" AND ".join(conditions),
            matches=" AND ".join(matches or ["TRUE"]),
            limit=self._named(asked.limit),
            offset=self._named(asked.offset),
        )
        self._add(NamespaceList, sql, refresh=False)

    def fetch(self) -> tuple[Any, ...]:
        """What each read answers, in their order, in a scope of its own."""
        put_off = PUT_OFF.format(ids=" UNION ALL ".join(self._refreshed)) if self._refreshed else ""
        sql = f"{self._before}WITH {', '.join(self._parts)}{put_off} SELECT {', '.join(self._answers)}"
        return fetch_alone(self._tenant_id, sql, self._params) or ()

    def _add(self, kind: type[ItemRead], sql: str, refresh: bool) -> None:
        number = len(self._parts)
        self._parts.append(f"op{number} AS MATERIALIZED ({sql})")
        self._answers.append(ROWS_OF[kind].format(number=number))
        if refresh:
            self._refreshed.append(TO_PUT_OFF.format(number=number))

    def _named(self, value: Any) -> str:
        """The placeholder of a parameter."""
        name = f"p{len(self._params)}"
        self._params[name] = value
        return f"%({name})s"

    def _of(self, whose: ItemScope, prefix: Path) -> list[str]:
        scope = OF_SCOPE.format(
            user=self._named(whose.user_id),
            agent=self._named(whose.agent_id),
            project=self._named(whose.project),
        )
        if not prefix:
            return [scope]
        path = path_text(prefix)
        return [scope, BELOW.format(path=self._named(path), end=self._named(f"{path[:-1]}/"))]

    def _tests(self, where: Mapping[str, Any]) -> Iterator[str]:
        """As LangGraph's stores filter: every field is equal to its value, or meets all its operators."""
        for field, wanted in where.items():
            value = f"i.value->{self._named(field)}"
            operators = wanted if isinstance(wanted, dict) and any(one[:1] == "$" for one in wanted) else None
            for operator, operand in ({"$eq": wanted} if operators is None else operators).items():
                yield self._test(value, operator, operand)

    def _test(self, value: str, operator: str, operand: Any) -> str:
        told = self._named(json.dumps(operand))
        if operator in ("$eq", "$ne"):
            return f"{value} {'=' if operator == '$eq' else '<>'} {told}::jsonb"
        if operator not in COMPARED:
            raise Invalid("Operators are $eq, $ne, $gt, $gte, $lt and $lte.", "filter")
        if isinstance(operand, str):
            text = f"({value} #>> '{{}}') COLLATE \"C\""
            return (
                f"(jsonb_typeof({value}) = 'string' AND {text} {COMPARED[operator]} {self._named(operand)})"
            )
        if isinstance(operand, bool) or not isinstance(operand, int | float):
            raise Invalid("What is greater or less is a number or a text.", "filter")
        return f"(jsonb_typeof({value}) = 'number' AND {value} {COMPARED[operator]} {told}::jsonb)"

    def _matching(self, match_type: str, path: Path) -> Iterator[str]:
        begin = 0 if match_type == "prefix" else f"cardinality(labels) - {len(path)}"
        yield f"cardinality(labels) >= {len(path)}"
        for number, label in enumerate(path, start=1):
            if label != "*":
                yield f"labels[{begin} + {number}] = {self._named(label)}"
