"""Which index serves the search for sessions that nobody ends, however its tenants differ in size."""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from tests.conftest import make_member
from tests.working.conversation import append, turn
from tests.working.idleness import let_pass
from working import idle

ROWS, EMPTY = 20_000, 60
COPY_SESSIONS = """
INSERT INTO working_session (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                             started_at, opened_at, last_activity_at, last_seq, turn_count, summarised_seq,
                             summary)
SELECT gen_random_uuid(), %(tenant)s, '', 'u' || n %% 200, 's' || n, '', '', '{}', now(),
       now() - n * interval '1 second', now(), 0, 0, 0, ''
FROM generate_series(1, %(rows)s) n
"""
COPY_TENANTS = """
INSERT INTO tenants_tenant (id, slug, name, created_at)
SELECT gen_random_uuid(), %(prefix)s || n, 'empty', now() FROM generate_series(1, %(rows)s) n
"""


@pytest.fixture
def big(server: str):
    """One tenant with nearly all sessions; many others have none."""
    member = make_member("big", server)
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_TENANTS, {"prefix": f"empty-{secrets.token_hex(4)}-", "rows": EMPTY})
        cursor.execute(COPY_SESSIONS, {"tenant": member.tenant.id, "rows": ROWS})
        cursor.execute("ANALYZE working_session, tenants_tenant")
    yield member
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM working_session WHERE tenant_id = %s", [member.tenant.id])
        cursor.execute("DELETE FROM tenants_tenant WHERE name = 'empty'")


@contextmanager
def plans(alias: str) -> Iterator[list[str]]:
    """The plans of the block's queries, a line for each node."""
    lines: list[str] = []

    def explain(execute, sql, params, many, context):
        if str(sql).lstrip().startswith("SELECT"):
            execute(f"EXPLAIN (FORMAT JSON) {sql}", params, many, context)
            found = context["cursor"].fetchone()[0]
            stack = [(json.loads(found) if isinstance(found, str) else found)[0]["Plan"]]
            while stack:
                node = stack.pop()
                lines.append(f"{node['Node Type']} {node.get('Index Name') or node.get('Relation Name')}")
                stack += node.get("Plans", [])
        return execute(sql, params, many, context)

    with connections[alias].execute_wrapper(explain):
        yield lines


def test_the_search_looks_once_into_the_index_for_each_tenant(big):
    with plans("admin") as lines:
        found = idle.tenants_to_search(now=timezone.now())
    assert big.tenant.id in found
    assert any(line.endswith(" session_old") for line in lines), lines
    assert "Seq Scan working_session" not in lines


def test_it_finds_tenants_with_a_session_that_is_open_for_a_while(acme, globex):
    for one in (acme, globex):
        append(one.caller, turn("user", "a"))
    let_pass(acme.caller, idle.SHORTEST_IDLE.total_seconds() + 1)
    found = idle.tenants_to_search(now=timezone.now())
    assert (acme.tenant.id in found, globex.tenant.id in found) == (True, False)
    assert globex.tenant.id in idle.tenants_to_search(now=timezone.now() + timedelta(seconds=120))
