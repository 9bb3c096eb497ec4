"""The SQL of jobs: insert, claim, finish, fail, renew. Claims see every tenant (admin role), the rest one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db import connection, connections, router, transaction
from uuid_utils.compat import uuid7

from tenants.jobs.kinds import Task, kept_kinds, kinds_in_order
from tenants.json_columns import json_text
from tenants.models import Job

VALUES = """
INSERT INTO tenants_job AS j (id, tenant_id, kind, payload, user_id, requested_by, dedup_key, state, slow,
                              urgent, run_at, attempts, max_attempts, done, total, error, created_at)
VALUES (%(id)s, %(tenant)s, %(kind)s, %(payload)s::jsonb, %(user_id)s, %(requested_by)s, %(dedup_key)s,
        'queued', %(slow)s, %(urgent)s,
        coalesce(%(run_at)s, now() + make_interval(secs => coalesce(%(quiet)s, 0))), 0, %(max_attempts)s, 0,
        %(total)s, '', %(created_at)s)
ON CONFLICT (tenant_id, kind, dedup_key) WHERE dedup_key IS NOT NULL AND state = 'queued'
"""
INSERT = VALUES + "DO NOTHING"
# What waits begins so long after what came last. What came first is as old as the job's id says (RFC 9562:
# milliseconds since 1970), and waits no longer than the patience. What is put off further stays so: a
# provider may have asked for that. An erasure between two causes leaves the job what the later one asks for.
POSTPONE = (
    VALUES
    + """
DO UPDATE SET
    run_at = greatest(j.run_at, least(
        EXCLUDED.run_at,
        to_timestamp(('x' || left(replace(j.id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
            + make_interval(secs => %(patience)s))),
    created_at = greatest(j.created_at, EXCLUDED.created_at)
RETURNING id
"""
)
# Locked until the open scope ends: a claim passes it by, so it runs after what we are about to commit.
WAITING = """
SELECT id FROM tenants_job
WHERE tenant_id = %(tenant)s AND kind = %(kind)s AND dedup_key = %(dedup_key)s AND state = 'queued'
FOR KEY SHARE
"""

# Goes from tenant to tenant by the index, beginning after `after`, and takes as many from each: the cost is
# that of the jobs taken, whatever waits behind them. By ctid: there is no plan but the right one. Ordered as
# the index is, and with sorting switched off: PostgreSQL may still believe the table to be all but empty, and
# then to read and sort a tenant's whole backlog seems as cheap.
BY_INDEX = "SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off"
CLAIM = """
WITH RECURSIVE turn (tenant_id, n) AS (
    (SELECT tenant_id, 1 FROM tenants_job
     WHERE state = 'queued' AND {lane} AND tenant_id > %(after)s ORDER BY tenant_id, run_at, id LIMIT 1)
    UNION ALL
    SELECT (SELECT j.tenant_id FROM tenants_job j
            WHERE j.state = 'queued' AND {lane} AND j.tenant_id > turn.tenant_id
            ORDER BY j.tenant_id, j.run_at, j.id LIMIT 1), n + 1
    FROM turn WHERE turn.tenant_id IS NOT NULL AND n < %(tenants)s
), taken AS MATERIALIZED (
    SELECT mine.place FROM turn, LATERAL (
        SELECT j.ctid AS place FROM tenants_job j
        WHERE j.tenant_id = turn.tenant_id AND j.state = 'queued' AND {lane} AND j.run_at <= now() {first}
        ORDER BY j.run_at, j.id
        LIMIT (SELECT greatest(1, %(limit)s / greatest(1, count(tenant_id))) FROM turn)
        FOR UPDATE SKIP LOCKED) mine
    LIMIT %(limit)s
), claimed AS (
    UPDATE tenants_job SET state = 'running', lease = %(lease)s, attempts = attempts + 1,
           lease_until = now() + make_interval(secs => %(seconds)s)
    WHERE ctid = ANY (ARRAY(SELECT place FROM taken))
    RETURNING id, tenant_id, kind, payload, user_id, created_at, attempts, max_attempts
)
SELECT (SELECT tenant_id FROM turn WHERE tenant_id IS NOT NULL ORDER BY n DESC LIMIT 1), c.*
FROM (SELECT) one LEFT JOIN claimed c ON true
"""
# Of jobs that are done in order only the person's oldest is taken: by id, which is in the order of time. To
# this statement one that another claim is just taking still waits, and one that is just being finished still
# runs. Whoever finishes it asks for more: the next one is found without anybody looking again and again.
FIRST = """
AND (j.kind <> ALL(%(in_order)s) OR NOT EXISTS (
    SELECT FROM tenants_job o
    WHERE o.tenant_id = j.tenant_id AND o.user_id = j.user_id AND o.kind = j.kind AND o.id < j.id
          AND o.slow AND o.state IN ('queued', 'running')))
"""
# What is locked is just being finished: it needs no lease any more.
RENEW = """
UPDATE tenants_job SET lease_until = now() + make_interval(secs => %(seconds)s)
WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM tenants_job
    WHERE tenant_id = ANY(%(tenants)s) AND id = ANY(%(ids)s) AND lease = %(lease)s AND state = 'running'
    FOR NO KEY UPDATE SKIP LOCKED))
"""
# A worker that died leaves its jobs to others; one that dies over and over by the same job, to a person. Of
# several that mean the same work, one is enough, unless somebody may ask how far his is: that one waits on,
# without the key. What is locked is just being finished, by a worker that is
# slow or frozen but not dead: waiting for it would hold up all the others.
RELEASE = """
WITH expired AS MATERIALIZED (
    SELECT ctid AS place, tenant_id, id, kind, dedup_key, attempts < max_attempts AS again,
           kind = ANY(%(kept)s) AS kept
    FROM tenants_job WHERE state = 'running' AND lease_until < now()
    ORDER BY tenant_id, lease_until LIMIT %(limit)s FOR UPDATE SKIP LOCKED
), twins AS MATERIALIZED (
    SELECT place FROM expired e
    WHERE NOT kept AND (
        EXISTS (SELECT FROM tenants_job w WHERE w.tenant_id = e.tenant_id AND w.kind = e.kind
                AND w.dedup_key = e.dedup_key AND w.state = 'queued')
        OR EXISTS (SELECT FROM expired w WHERE w.tenant_id = e.tenant_id AND w.kind = e.kind
                   AND w.dedup_key = e.dedup_key AND w.again AND w.id > e.id))
), dropped AS (
    DELETE FROM tenants_job WHERE ctid = ANY (ARRAY(SELECT place FROM twins))
)
UPDATE tenants_job SET lease = NULL, lease_until = NULL, error = 'The worker died or froze while it ran.',
       dedup_key = CASE WHEN kind = ANY(%(kept)s) THEN NULL ELSE dedup_key END,
       state = CASE WHEN attempts < max_attempts THEN 'queued' ELSE 'failed' END,
       finished_at = CASE WHEN attempts < max_attempts THEN NULL ELSE now() END
WHERE ctid = ANY (ARRAY(SELECT place FROM expired EXCEPT SELECT place FROM twins))
"""
# Only what runs has a lease. Without the state, no index of a state can be taken for the primary key.
MINE = "tenant_id = %(tenant)s AND id = ANY(%(ids)s) AND lease = %(lease)s"
BY_KEY = "SET LOCAL enable_seqscan = off"  # likewise: what cleared jobs left behind would be read each time
BY_ANY_PLAN = "SET LOCAL enable_seqscan = on"  # for what the job itself asks
FINISH = f"DELETE FROM tenants_job WHERE {MINE} RETURNING id"  # noqa: S608
FINISH_KEPT = f"""
UPDATE tenants_job SET state = 'done', finished_at = now(), lease = NULL, lease_until = NULL, error = ''
WHERE {MINE} RETURNING id
"""  # noqa: S608
RESULT = """
UPDATE tenants_job SET result = %(result)s::jsonb WHERE tenant_id = %(tenant)s AND id = %(id)s
"""
PUT_OFF = f"""
UPDATE tenants_job SET state = 'queued', lease = NULL, lease_until = NULL, attempts = attempts - 1,
       run_at = now() + make_interval(secs => %(delay)s),
       dedup_key = CASE WHEN kind = ANY(%(kept)s) THEN NULL ELSE dedup_key END
WHERE {MINE}
"""  # noqa: S608
DROP_IF_TWIN = f"""
DELETE FROM tenants_job j WHERE {MINE} AND dedup_key IS NOT NULL AND kind <> ALL(%(kept)s) AND EXISTS (
    SELECT 1 FROM tenants_job w WHERE w.tenant_id = j.tenant_id AND w.kind = j.kind
    AND w.dedup_key = j.dedup_key AND w.state = 'queued')
"""  # noqa: S608
FAIL = f"""
UPDATE tenants_job SET lease = NULL, lease_until = NULL, error = %(error)s,
       dedup_key = CASE WHEN kind = ANY(%(kept)s) THEN NULL ELSE dedup_key END,
       state = CASE WHEN %(dead)s THEN 'failed' ELSE 'queued' END,
       finished_at = CASE WHEN %(dead)s THEN now() END,
       run_at = now() + make_interval(secs => %(delay)s)
WHERE {MINE}
"""  # noqa: S608
PROGRESS = f"UPDATE tenants_job SET done = %(done)s, total = %(total)s WHERE {MINE}"  # noqa: S608

Lane = Literal["quick", "urgent", "slow"]
LANES: dict[Lane, str] = {"quick": "NOT slow", "urgent": "slow AND urgent", "slow": "slow AND NOT urgent"}
MOST_TENANTS = 32  # that one claim looks at
MOST_RELEASED = 1_000


@dataclass(frozen=True, slots=True)
class Claimed:
    """Jobs of ours; `last` is the last tenant that was looked at, None when there was none."""

    tasks: list[Task]
    last: UUID | None


def insert(**params: Any) -> UUID:
    """Adds a job in the open scope; if its dedup key is taken, answers the one that waits. With `quiet`
    seconds it waits for these, and so does one that waits already, anew."""
    new = uuid7()
    given = {**params, "id": new, "payload": json_text(params["payload"])}
    with connections[router.db_for_write(Job)].cursor() as cursor:
        if params["quiet"] is not None:
            cursor.execute(POSTPONE, given)
            return UUID(str(cursor.fetchone()[0]))
        cursor.execute(INSERT, given)
        if cursor.rowcount:
            return UUID(str(new))
        cursor.execute(WAITING, params)
        row = cursor.fetchone()
    return UUID(str(row[0])) if row else insert(**params)  # it was claimed just now, and may miss our commit


def claim(*, lane: Lane, after: UUID, limit: int, lease: UUID, seconds: float) -> Claimed:
    """Up to `limit` jobs, evenly from the tenants after `after`; ours for `seconds`."""
    with transaction.atomic(using="admin"), connections["admin"].cursor() as cursor:
        cursor.execute(BY_INDEX)
        params: dict[str, Any] = {
            "after": after,
            "tenants": MOST_TENANTS,
            "limit": limit,
            "lease": lease,
            "seconds": seconds,
            "in_order": kinds_in_order(),
        }
        cursor.execute(claim_of(lane), params)
        rows = cursor.fetchall()
    tasks = [_task(row[1:], lease) for row in rows if row[1] is not None]
    return Claimed(tasks, UUID(str(rows[0][0])) if rows and rows[0][0] else None)


def claim_of(lane: Lane) -> str:
    """The claim's statement. What is done in order is slow."""
    return CLAIM.format(lane=LANES[lane], first="" if lane == "quick" else FIRST)


def renew(*, tasks: Sequence[Task], seconds: float) -> None:
    """Keeps the jobs ours for `seconds` more; those that are not ours any longer stay as they are."""
    params: dict[str, Any] = {
        "tenants": list({task.tenant_id for task in tasks}),
        "ids": [task.id for task in tasks],
        "lease": tasks[0].lease,
        "seconds": seconds,
    }
    with connections["admin"].cursor() as cursor:
        cursor.execute(RENEW, params)


def release_expired() -> int:
    """Takes jobs from workers that died; how many. IntegrityError: a twin was queued in this moment."""
    with connections["admin"].cursor() as cursor:
        cursor.execute(RELEASE, {"limit": MOST_RELEASED, "kept": kept_kinds()})
        return int(cursor.rowcount)


def finish(*, tasks: Sequence[Task], keep: bool) -> set[UUID]:
    """Ends the jobs in the open scope: those of them that were still ours. Their rows stay locked."""
    with connection.cursor() as cursor:
        cursor.execute(BY_KEY)
        cursor.execute(FINISH_KEPT if keep else FINISH, _mine(tasks))
        ours = {UUID(str(row[0])) for row in cursor.fetchall()}
        cursor.execute(BY_ANY_PLAN)
    return ours


def keep_result(*, task: Task, result: Mapping[str, Any]) -> None:
    """Stores what a job that is kept has answered, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(
            RESULT, {"tenant": task.tenant_id, "id": task.id, "result": json_text(result, default=str)}
        )


def fail(*, task: Task, error: str, dead: bool, delay: float) -> None:
    """Puts the job back, not before `delay` seconds, or among the dead letters, in the open scope."""
    params = _mine([task]) | {"error": error, "dead": dead, "delay": delay, "kept": kept_kinds()}
    with connection.cursor() as cursor:
        if not dead:
            cursor.execute(DROP_IF_TWIN, params)
        cursor.execute(FAIL, params)


def put_off(*, task: Task, delay: float) -> None:
    """Puts the job back, not before `delay` seconds, as if it had not been begun, in the open scope."""
    params = _mine([task]) | {"delay": delay, "kept": kept_kinds()}
    with connection.cursor() as cursor:
        cursor.execute(DROP_IF_TWIN, params)
        cursor.execute(PUT_OFF, params)


def report_progress(*, task: Task, done: int, total: int | None) -> bool:
    """Says how far a job is; False when it is not ours any longer."""
    with connection.cursor() as cursor:
        cursor.execute(PROGRESS, _mine([task]) | {"done": done, "total": total})
        return bool(cursor.rowcount)


def _mine(tasks: Sequence[Task]) -> dict[str, Any]:
    return {
        "tenant": tasks[0].tenant_id,
        "ids": [task.id for task in tasks],
        "lease": tasks[0].lease,
    }


def _task(row: Sequence[Any], lease: UUID) -> Task:
    job_id, tenant_id, kind, payload, user_id, since, attempts, most = row
    return Task(
        id=job_id,
        tenant_id=tenant_id,
        kind=kind,
        payload=json.loads(payload) if isinstance(payload, str) else payload,
        user_id=user_id,
        since=since,
        attempts=attempts,
        max_attempts=most,
        lease=lease,
    )
