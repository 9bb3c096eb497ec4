"""How many jobs wait, run and have failed, over all tenants: what an operator watches."""

from dataclasses import dataclass

from django.db import connections

MOST = 100_000  # counted one by one no further than this: a longer queue must not make each look at it slow

# The longest wait is found tenant by tenant of those that have work waiting, one index entry each.
FIGURES = """
WITH RECURSIVE quick AS (
    (SELECT tenant_id, run_at FROM tenants_job WHERE state = 'queued' AND NOT slow
     ORDER BY tenant_id, run_at, id LIMIT 1)
  UNION ALL
    SELECT following.* FROM quick, LATERAL (
      SELECT tenant_id, run_at FROM tenants_job
      WHERE state = 'queued' AND NOT slow AND tenant_id > quick.tenant_id
      ORDER BY tenant_id, run_at, id LIMIT 1) AS following
), slow AS (
    (SELECT tenant_id, run_at FROM tenants_job WHERE state = 'queued' AND slow
     ORDER BY tenant_id, run_at, id LIMIT 1)
  UNION ALL
    SELECT following.* FROM slow, LATERAL (
      SELECT tenant_id, run_at FROM tenants_job
      WHERE state = 'queued' AND slow AND tenant_id > slow.tenant_id
      ORDER BY tenant_id, run_at, id LIMIT 1) AS following
)
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM tenants_job WHERE state = 'queued' AND NOT slow LIMIT %(most)s) q)
  + (SELECT count(*) FROM (SELECT 1 FROM tenants_job WHERE state = 'queued' AND slow LIMIT %(most)s) s),
  (SELECT count(*) FROM (SELECT 1 FROM tenants_job WHERE state = 'running' LIMIT %(most)s) r),
  (SELECT count(*) FROM (SELECT 1 FROM tenants_job WHERE state = 'failed' LIMIT %(most)s) f),
  (SELECT greatest(extract(epoch FROM clock_timestamp() - min(run_at)), 0)::float8
   FROM (SELECT run_at FROM quick UNION ALL SELECT run_at FROM slow) waiting)
"""


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
