"""What is left of a person after an erasure, by what the database itself says of its tables.

The scan knows nothing of the handlers: a table, column or key that they forget is looked at all the same. It
looks for the id as a whole value: in every column of text, as an item of arrays, as a value or name anywhere
in JSON. What people wrote about each other in prose is not found.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import connection

from tenants.privacy.registry import Subject
from tenants.scope import scope
from tenants.subjects import token_principal

SLICE = 50_000  # rows that one statement reads, so that none takes long

COLUMNS = """
SELECT c.relname, a.attname,
       CASE WHEN t.typname IN ('json', 'jsonb') THEN 'json' WHEN t.typcategory = 'S' THEN 'text'
            WHEN e.typname IN ('json', 'jsonb') THEN 'jsons' ELSE 'texts' END,
       (SELECT i.atttypid = 'uuid'::regtype FROM pg_attribute i WHERE i.attrelid = c.oid AND i.attname = 'id')
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     AND a.attgenerated = ''  -- what PostgreSQL makes of other columns
JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND has_table_privilege(c.oid, 'SELECT')
AND EXISTS (SELECT 1 FROM pg_attribute k WHERE k.attrelid = c.oid AND k.attname = 'tenant_id')
AND (t.typcategory = 'S' OR t.typname IN ('json', 'jsonb')
     OR (t.typcategory = 'A' AND (e.typcategory = 'S' OR e.typname IN ('json', 'jsonb'))))
ORDER BY 1, 2
"""
# Words of ours, which a person may be called like. None of them ever holds an id.
VOCABULARY = {
    ("agent_episodes", "memory_type"), ("agent_episodes", "origin"), ("chat_events", "role"),
    ("tenants_auditentry", "action"), ("tenants_job", "kind"), ("tenants_job", "state"),
    ("tenants_member", "role"), ("tenants_providerusage", "provider"), ("tenants_providerusage", "purpose"),
}  # fmt: skip
# Where a row changes hands in time without a new id, the column that tells when; elsewhere the id does, which
# the server has minted with the moment in it.
MOMENTS = {
    "chat_events": "recorded_at",
    "ledger_injection": "marked_at",
    "observation_search": "created_at",
    "observations_observation": "created_at",
    "working_checkpoint": "updated_at",
    "working_session": "started_at",
}
# An erasure under way knows whom it erases; it forgets with its end.
EXEMPT = {"tenants_job": "NOT (kind = 'subject.erase' AND state <> 'done')"}

# A text that is JSON is searched like JSON, though not parsed: it may be anything.
QUOTED = "(strpos({column}::text, %(quoted)s) > 0 OR strpos({column}::text, %(escaped)s) > 0)"
EXACT = (
    "(jsonb_path_exists({column}::jsonb, '$.** ? (@ == $id[*])', jsonb_build_object('id', %(names)s::text[]))"
    " OR strpos({column}::text, %(quoted)s || ':') > 0)"
)
_ITEM = (QUOTED + " AND " + EXACT).replace("{column}", "item")
CONDITIONS = {
    "text": "({column} = ANY(%(names)s) OR (left({column}, 1) IN ('{{', '[') AND " + QUOTED + "))",
    "json": "CASE WHEN " + QUOTED + " THEN " + EXACT + " ELSE false END",
    "texts": "{column}::text[] && %(names)s::text[]",
    "jsons": f"EXISTS (SELECT FROM unnest({{column}}) AS item WHERE {_ITEM})",
}
SEARCH = """
SELECT {last}, {counts}
FROM (SELECT * FROM {table} WHERE tenant_id = %(tenant)s AND id > %(after)s ORDER BY id LIMIT %(slice)s) row
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can hold an id, and how."""

    table: str
    name: str
    form: str
    has_uuids: bool  # as ids; else these are numbers, beside which a moment must stand in `MOMENTS`


def scan_tables(subject: Subject, *, report: Callable[[], object]) -> dict[str, int]:
    """Rows of the tenant from before `subject.until` that name the person, by `table.column`; only those
    with any. `report` is called between slices, outside any scope."""
    found: Counter[str] = Counter()
    for table, group in groupby(_columns(subject.tenant_id), key=lambda column: column.table):
        columns = list(group)
        for counts in _search(table, columns, subject):
            found.update({f"{table}.{name}": count for name, count in counts.items() if count})
            report()
    return dict(sorted(found.items()))


def _columns(tenant_id: UUID) -> list[Column]:
    with scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        rows = cursor.fetchall()
    return [Column(*row) for row in rows if (row[0], row[1]) not in VOCABULARY]


def _search(table: str, columns: list[Column], subject: Subject) -> Iterator[Mapping[str, int]]:
    quote = connection.ops.quote_name
    old = f"{quote(MOMENTS[table])} <= %(until)s" if table in MOMENTS else "id <= %(newest)s"
    conditions = f"{old} AND {EXEMPT.get(table, 'true')}"
    counts = [
        f"count(*) FILTER (WHERE {conditions} AND {CONDITIONS[one.form].format(column=quote(one.name))})"
        for one in columns
    ]
    # Not every PostgreSQL has a maximum of UUIDs.
    newest_id = 'max(id::text COLLATE "C")' if columns[0].has_uuids else "max(id)"
    statement = SEARCH.format(table=quote(table), counts=", ".join(counts), last=newest_id)
    last: str | int = str(UUID(int=0)) if columns[0].has_uuids else -1
    params = _params(subject)
    while True:
        with scope(subject.tenant_id), connection.cursor() as cursor:
            cursor.execute(statement, params | {"after": last})
            newest, *numbers = cursor.fetchone()
        if newest is None:
            return
        last = newest
        yield {column.name: number for column, number in zip(columns, numbers, strict=True)}


def _params(subject: Subject) -> dict[str, Any]:
    user_id = subject.user_id
    return {
        "tenant": subject.tenant_id,
        "names": [user_id, token_principal(user_id)],
        "quoted": json.dumps(user_id, ensure_ascii=False),
        "escaped": json.dumps(user_id),
        "until": subject.until,
        "newest": _newest_id(subject),
        "slice": SLICE,
    }


def _newest_id(subject: Subject) -> UUID:
    """The greatest UUIDv7 of the millisecond of `until`."""
    milliseconds = int(subject.until.timestamp() * 1_000)
    return UUID(int=(milliseconds << 80) | ((1 << 80) - 1))
