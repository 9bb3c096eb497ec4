"""How many jobs wait, run and have failed, over all tenants or of one: what an operator watches."""

from dataclasses import dataclass
from uuid import UUID

from django.db import connection, connections

from tenants.jobs.querysets import LANES
from tenants.scope import scope

MOST = 100_000  # counted one by one no further than this: a longer queue must not make each look at it slow

# The longest wait is found tenant by tenant of those that have work waiting, one index entry each.
WAITING = """{lane} AS (
    (SELECT tenant_id, run_at FROM tenants_job WHERE state = 'queued' AND {condition}
     ORDER BY tenant_id, run_at, id LIMIT 1)
  UNION ALL
    SELECT following.* FROM {lane}, LATERAL (
      SELECT tenant_id, run_at FROM tenants_job
      WHERE state = 'queued' AND {condition} AND tenant_id > {lane}.tenant_id
      ORDER BY tenant_id, run_at, id LIMIT 1) AS following
)"""
COUNT = "(SELECT count(*) FROM (SELECT 1 FROM tenants_job WHERE {condition} LIMIT %(most)s) n)"
FIGURES = f"""
WITH RECURSIVE {", ".join(WAITING.format(lane=lane, condition=sql) for lane, sql in LANES.items())}
SELECT
  {" + ".join(COUNT.format(condition=f"state = 'queued' AND {sql}") for sql in LANES.values())},
  {COUNT.format(condition="state = 'running'")},
  {COUNT.format(condition="state = 'failed'")},
  (SELECT greatest(extract(epoch FROM clock_timestamp() - min(run_at)), 0)::float8
   FROM ({" UNION ALL ".join(f"SELECT run_at FROM {lane}" for lane in LANES)}) waiting)
"""  # noqa: S608  the parts are constants

OF_TENANT = f"""
SELECT
  {
    " + ".join(
        COUNT.format(condition=f"tenant_id = %(tenant)s AND state = 'queued' AND {sql}")
        for sql in LANES.values()
    )
},
  {COUNT.format(condition="tenant_id = %(tenant)s AND state = 'running'")},
  {COUNT.format(condition="tenant_id = %(tenant)s AND state = 'failed'")},
  (SELECT greatest(extract(epoch FROM clock_timestamp() - min(run_at)), 0)::float8 FROM ({
    " UNION ALL ".join(
        f"(SELECT run_at FROM tenants_job WHERE tenant_id = %(tenant)s AND state = 'queued' AND {sql}"
        " ORDER BY run_at, id LIMIT 1)"
        for sql in LANES.values()
    )
}) waiting)
"""  # noqa: S608  likewise


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """Each number is exact up to 100,000. `longest_wait`: seconds for which the first job has been due, 0
    when none is."""

    queued: int
    running: int
    failed: int
    longest_wait: float


def read_queue() -> QueueFigures:
    """A named cross-tenant job: it asks as the admin role, and learns numbers only."""
    with connections["admin"].cursor() as cursor:
        cursor.execute(FIGURES, {"most": MOST})
        queued, running, failed, longest_wait = cursor.fetchone()
    return QueueFigures(queued, running, failed, longest_wait or 0.0)


def read_queue_of(*, tenant_id: UUID) -> QueueFigures:
    """Of one tenant."""
    with scope(tenant_id), connection.cursor() as cursor:
        cursor.execute(OF_TENANT, {"most": MOST, "tenant": tenant_id})
        queued, running, failed, longest_wait = cursor.fetchone()
    return QueueFigures(queued, running, failed, longest_wait or 0.0)
