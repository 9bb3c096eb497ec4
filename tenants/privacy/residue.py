"""What is left of a person after an erasure, by what the database itself says of its tables.

The scan knows nothing of the handlers: a table, column or key that they forget is looked at all the same. It
looks for the id as a whole value: in every column of text, as an item of arrays, as a value or name anywhere
in JSON. What people wrote about each other in prose is not found. The same word where it names something
else, a project or a type, is told apart (`tenants.privacy.words`).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.db import connection

from tenants.privacy.registry import Subject
from tenants.privacy.words import KEYS, OWN_NAMES, VOCABULARY, WORDS
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
# Where a row changes hands in time without a new id, the column that tells when; elsewhere the id does, which
# the server has minted with the moment in it.
MOMENTS = {
    "chat_events": "recorded_at",
    "ledger_injection": "marked_at",
    "observation_search": "created_at",
    "observations_observation": "created_at",
    "working_checkpoint": "updated_at",
    "working_session": "started_at",
    "working_state": "updated_at",
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
# JSON without the id where it is a word of another kind: the values under `KEYS`, and in JSON of ours names.
PLAIN = "regexp_replace({column}::text, %(under_keys)s, '\\1: \"\"', 'g')"
PLAIN_OF_OURS = f"regexp_replace({PLAIN}, %(as_name)s, '\"\":', 'g')"
# Which of those found name the person, as far as we can tell.
_PLAIN_TEXT = f"({{column}} = ANY(%(names)s) OR {QUOTED.replace('{column}', '{plain}')})"
MEANT = {
    "text": _PLAIN_TEXT,
    "json": EXACT.replace("{column}", "{plain}"),
    "texts": "true",
    "jsons": "true",
}
# Both counts of a column in one sum, so that what is long is read once: a slice has fewer rows than this.
APART = 1_000_000
COUNT = (
    "coalesce(sum(CASE WHEN {found} THEN CASE WHEN {meant} THEN 1 ELSE {apart} END ELSE 0 END)"
    " FILTER (WHERE {conditions}), 0)"
)
# The things that such rows are, or are part of.
LIST = (
    "(array_agg({thing}::text ORDER BY id) FILTER (WHERE {conditions} AND {found} AND {meant}))[1:%(most)s]"
)
SEARCH = """
SELECT {last}, {answers}
FROM (SELECT * FROM {table} WHERE tenant_id = %(tenant)s AND id > %(after)s ORDER BY id LIMIT %(slice)s) row
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that can hold an id, and how."""

    table: str
    name: str
    form: str
    has_uuids: bool  # as ids; else these are numbers, beside which a moment must stand in `MOMENTS`


@dataclass(frozen=True, slots=True)
class Found:
    """Rows by `table.column`: those that name the person, and those where the same word means another
    thing."""

    residue: dict[str, int]
    coincidences: dict[str, int]


def scan_tables(subject: Subject, *, report: Callable[[], object]) -> Found:
    """Rows of the tenant from before `subject.until` that say the person's id; only places with any.
    `report` is called between slices, outside any scope."""
    residue: Counter[str] = Counter()
    coincidences: Counter[str] = Counter()
    for table, group in groupby(_columns(subject.tenant_id), key=lambda column: column.table):
        columns = list(group)
        for counts in _search(columns, subject, [_count(one, subject) for one in columns]):
            for column, count in zip(columns, counts, strict=True):
                apart, theirs = divmod(count, APART)
                residue[f"{table}.{column.name}"] += theirs
                coincidences[f"{table}.{column.name}"] += apart
            report()
    return Found(_some(residue), _some(coincidences))


def find_rows(subject: Subject, *, place: str, thing: str, most: int, slices: int) -> list[str]:
    """Of the rows that are counted as residue in that `table.column`, the values of the column `thing`,
    without repetition and `most` at most, from the oldest `slices` of the table. None of a place that is
    not looked at."""
    table, _, name = place.partition(".")
    columns = [one for one in _columns(subject.tenant_id) if (one.table, one.name) == (table, name)]
    if not columns:
        return []
    found, meant = _meaning(columns[0], subject)
    asked = LIST.format(
        thing=connection.ops.quote_name(thing), conditions=_conditions(table), found=found, meant=meant
    )
    things: dict[str, None] = {}
    for (some,) in islice(_search(columns, subject, [asked], most=most), slices):
        things |= dict.fromkeys(some or ())
        if len(things) >= most:
            break
    return list(things)[:most]


def _some(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


def _columns(tenant_id: UUID) -> list[Column]:
    with scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        rows = cursor.fetchall()
    return [Column(*row) for row in rows if (row[0], row[1]) not in VOCABULARY]


def _search(columns: list[Column], subject: Subject, answers: list[str], **more: Any) -> Iterator[list[Any]]:
    """What these expressions are of each slice of the columns' table, in order."""
    # Not every PostgreSQL has a maximum of UUIDs.
    newest_id = 'max(id::text COLLATE "C")' if columns[0].has_uuids else "max(id)"
    table = connection.ops.quote_name(columns[0].table)
    statement = SEARCH.format(table=table, answers=", ".join(answers), last=newest_id)
    last: str | int = str(UUID(int=0)) if columns[0].has_uuids else -1
    params = _params(subject) | more
    while True:
        with scope(subject.tenant_id), connection.cursor() as cursor:
            cursor.execute(statement, params | {"after": last})
            newest, *values = cursor.fetchone()
        if newest is None:
            return
        last = newest
        yield values


def _conditions(table: str) -> str:
    """Which rows are from before the erasure, and looked at."""
    quote = connection.ops.quote_name
    old = f"{quote(MOMENTS[table])} <= %(until)s" if table in MOMENTS else "id <= %(newest)s"
    return f"{old} AND {EXEMPT.get(table, 'true')}"


def _count(one: Column, subject: Subject) -> str:
    found, meant = _meaning(one, subject)
    return COUNT.format(found=found, meant=meant, apart=APART, conditions=_conditions(one.table))


def _meaning(one: Column, subject: Subject) -> tuple[str, str]:
    """Whether a row says the id, and whether it then names the person, in SQL."""
    column, place = connection.ops.quote_name(one.name), (one.table, one.name)
    is_known_name = place in OWN_NAMES or subject.user_id in KEYS
    plain = (PLAIN_OF_OURS if is_known_name else PLAIN).format(column=column)
    meant = MEANT[one.form].format(column=column, plain=plain)
    if place in WORDS:
        meant = f"NOT {WORDS[place]} AND {meant}"
    return CONDITIONS[one.form].format(column=column), meant


def _params(subject: Subject) -> dict[str, Any]:
    user_id = subject.user_id
    quoted, escaped = json.dumps(user_id, ensure_ascii=False), json.dumps(user_id)
    either = f"(?:{re.escape(quoted)}|{re.escape(escaped)})"
    return {
        "tenant": subject.tenant_id,
        "names": [user_id, token_principal(user_id)],
        "quoted": quoted,
        "escaped": escaped,
        "under_keys": f'("(?:{"|".join(KEYS)})"): ?{either}',
        "as_name": f"{either}: ?",
        "until": subject.until,
        "newest": _newest_id(subject),
        "slice": SLICE,
    }


def _newest_id(subject: Subject) -> UUID:
    """The greatest UUIDv7 of the millisecond of `until`."""
    milliseconds = int(subject.until.timestamp() * 1_000)
    return UUID(int=(milliseconds << 80) | ((1 << 80) - 1))
