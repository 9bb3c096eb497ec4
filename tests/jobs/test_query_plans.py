"""The queue's statements go by their own indexes, whatever PostgreSQL knows of the table."""

import json
from uuid import UUID, uuid4

import pytest
from django.db import connections, transaction

from tenants.jobs import querysets

TENANTS = 300
COUNTS = {("queued", "quick"): 150, ("queued", "slow"): 2, ("queued", "urgent"): 2, ("running", "quick"): 2}
FILL_TENANTS = """
INSERT INTO tenants_tenant (id, slug, name, created_at)
SELECT gen_random_uuid(), 'plans-' || n, '', now() FROM generate_series(1, %s) n RETURNING id
"""
FILL = """
INSERT INTO tenants_job (id, tenant_id, kind, payload, user_id, requested_by, state, slow, urgent, run_at,
                         attempts, max_attempts, done, error, created_at)
SELECT gen_random_uuid(), tenant, 'x', '{}', '', '', %(state)s, %(slow)s, %(urgent)s, now(),
       0, 12, 0, '', now()
FROM generate_series(1, %(count)s), unnest(%(tenants)s::uuid[]) tenant
"""


class Undo(Exception):
    pass


@pytest.fixture(params=["never analysed", "analysed when it was all but empty", "analysed"])
def plan(request, _database):
    """Plans a statement over the jobs of many tenants, of which nothing stays."""
    try:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(FILL_TENANTS, [TENANTS])
            tenants = [row[0] for row in cursor.fetchall()]
            fill(cursor, tenants)
            if request.param == "analysed when it was all but empty":  # as after a quiet night
                cursor.execute(
                    "DELETE FROM tenants_job WHERE id NOT IN (SELECT min(id::text)::uuid FROM tenants_job"
                    " WHERE state = 'queued' GROUP BY tenant_id LIMIT 20)"
                )
                cursor.execute("ANALYZE tenants_job")
                fill(cursor, tenants)
            if request.param == "analysed":
                cursor.execute("ANALYZE tenants_job")

            def plan(statement, params, first="SELECT"):
                cursor.execute(first)
                cursor.execute("EXPLAIN (FORMAT JSON) " + statement, params)
                found = cursor.fetchone()[0]
                return list(nodes((found if isinstance(found, list) else json.loads(found))[0]["Plan"]))

            plan.tenant, plan.state = tenants[0], request.param
            yield plan
            raise Undo
    except Undo:
        return


def fill(cursor, tenants):
    for (state, lane), count in COUNTS.items():
        row = {"state": state, "slow": lane != "quick", "urgent": lane == "urgent", "count": count}
        cursor.execute(FILL, {**row, "tenants": tenants})


def nodes(node):
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


def indexes(found):
    return {node["Index Name"] for node in found if "Index Name" in node}


def types(found):
    return {node["Node Type"] for node in found if node.get("Relation Name") == "tenants_job"}


@pytest.mark.parametrize("lane", querysets.LANES)
def test_a_claim_reads_only_the_jobs_that_wait_in_its_lane(plan, lane):
    found = plan(
        querysets.claim_of(lane),
        {
            "after": UUID(int=0), "tenants": 32, "limit": 200, "lease": uuid4(), "seconds": 30,
            "in_order": ["x"],
        },
        first=querysets.BY_INDEX,
    )  # fmt: skip
    # Knowing nothing of the table, the planner may look for a person's older jobs among the tenant's by key.
    by_key = {"tenants_job_pkey"} if plan.state == "never analysed" else set()
    older = set() if lane == "quick" else {"job_in_order"}
    used = indexes(found)
    assert used in ({f"job_queued_{lane}"} | older, {f"job_queued_{lane}"} | by_key)
    # A person's older jobs may be looked up by a bitmap of their index.
    assert types(found) <= {"Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Tid Scan", "ModifyTable"}


def test_a_job_is_finished_by_its_key(plan):
    params = {"tenant": plan.tenant, "ids": [uuid4() for _n in range(200)], "lease": uuid4()}
    for statement in (querysets.FINISH, querysets.FINISH_KEPT):
        assert indexes(plan(statement, params, first=querysets.BY_KEY)) == {"tenants_job_pkey"}


def test_the_search_for_dead_workers_reads_only_what_runs(plan):
    found = plan(querysets.RELEASE, {"limit": 1_000, "kept": ["x"]})
    assert "job_running" in indexes(found)
    # Knowing nothing of the table, the planner may look the found rows up by their key.
    by_key = {"tenants_job_pkey"} if plan.state == "never analysed" else set()
    assert indexes(found) <= {"job_running", "job_dedup"} | by_key
    assert "Seq Scan" not in types(found)
