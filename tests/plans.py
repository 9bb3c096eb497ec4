"""Which indexes a query uses, seen as the app role with row-level security in force."""

import json
import re
import time
from collections.abc import Callable, Iterator

from django.db import connection, connections

from tenants.caller import Caller
from tenants.scope import scope

# Pages that an index leads to without leaving it; not those that an older snapshot still kept from it.
UNSEEN = "SELECT sum(relpages - relallvisible) FROM pg_class WHERE oid = ANY (%s::text[]::regclass[])"
SETTINGS = re.compile(r"^(SET LOCAL [^;]+; )*")


def indexes_of(caller: Caller, run: Callable[[], object]) -> set[str]:
    """The indexes that the plans of the queries in `run` use, and `SEQ <table>` for a whole scan."""
    used: set[str] = set()

    def explain(execute, sql, params, many, context):
        text = str(sql).lstrip()
        settings = SETTINGS.match(text)[0]
        if text[len(settings) :].lstrip().startswith(("SELECT", "WITH", "DECLARE")):
            for one in text[len(settings) :].split(";"):  # several may come in one round trip
                execute(f"{settings}EXPLAIN (FORMAT JSON) {one}", params, many, context)
                cursor = context["cursor"]
                while cursor.description is None:  # what SET answers
                    cursor.nextset()
                used.update(_nodes(cursor.fetchone()[0]))
        return execute(sql, params, many, context)

    with scope(caller.tenant_id), connection.execute_wrapper(explain):
        run()
    return used


def vacuum(*tables: str) -> None:
    """Again while a transaction of somebody else keeps rows from being visible to all: the plans of scans of
    an index alone depend on it."""
    deadline = time.monotonic() + 60
    with connections["owner"].cursor() as cursor:
        unseen = 1
        while unseen and time.monotonic() < deadline:
            cursor.execute(f"VACUUM ANALYZE {', '.join(tables)}")
            cursor.execute(UNSEEN, [list(tables)])
            (unseen,) = cursor.fetchone()


def _nodes(plan: object) -> Iterator[str]:
    tree = json.loads(plan) if isinstance(plan, str) else plan
    stack = [tree[0]["Plan"]]
    while stack:
        node = stack.pop()
        if "Index Name" in node:
            yield node["Index Name"]
        if node["Node Type"] == "Seq Scan":
            yield f"SEQ {node['Relation Name']}"
        stack += node.get("Plans", [])
