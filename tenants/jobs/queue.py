"""Taking work in, looking at it, and putting dead letters back."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import router, transaction
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.jobs import querysets, wake
from tenants.jobs.kinds import kind_of, kinds_for_privacy
from tenants.models import Job, JobState
from tenants.scope import current_tenant, scope
from tenants.subjects import actor_of

TOGETHER = 2_000  # dead letters that one transaction puts back
PATIENCE = 10  # times the quiet that a job waits for, after which it begins however lively it is


def enqueue(
    kind: str,
    *,
    payload: Mapping[str, Any],
    now: datetime,
    tenant_id: UUID | None = None,
    user_id: str = "",
    requested_by: str = "",
    dedup_key: str | None = None,
    run_at: datetime | None = None,
    quiet: timedelta | None = None,
    total: int | None = None,
) -> UUID:
    """Records a job in the open scope: it exists exactly when what causes it does. Answers its id.
    `tenant_id` is the scope's, and has to be given in a transaction of the owner's, which has none.

    `now` is when the cause came in, `user_id` whose memory it works on: an erasure of that person since then
    makes the job do nothing. Of jobs with the same `dedup_key` only one waits at a time; with `quiet`, until
    nobody has asked for it for so long, but no longer than `PATIENCE` times that. The payload holds ids,
    never what people said.
    """
    what = kind_of(kind)
    job_id = querysets.insert(
        tenant=tenant_id or current_tenant(),
        kind=kind,
        payload=dict(payload),
        user_id=user_id,
        requested_by=requested_by,
        dedup_key=dedup_key,
        slow=what.slow,
        urgent=what.urgent,
        run_at=run_at,
        quiet=None if quiet is None else quiet.total_seconds(),
        patience=None if quiet is None else (PATIENCE * quiet).total_seconds(),
        max_attempts=what.attempts,
        total=total,
        created_at=now,
    )
    if not quiet:  # the clock's next ring finds what is not due yet
        transaction.on_commit(lambda: wake.wake(slow=what.slow), using=router.db_for_write(Job))
    return job_id


def access_job(*, caller: Caller, job_id: UUID) -> Job:
    """A job that the caller asked for, or any of the tenant for a privacy officer or admin; a key bound to a
    user gets that user's only, one without scope `read` exports and erasures only. Raises NotFound."""
    with scope(caller.tenant_id):
        job = Job.objects.filter(_reach(caller), id=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def list_jobs(
    *,
    caller: Caller,
    limit: int,
    state: str | None = None,
    kind: str | None = None,
    before: UUID | None = None,
) -> list[Job]:
    """Jobs within the caller's reach, newest first; `before`: continue after that one. Ids are in the order
    of time, so the primary key serves however many there are."""
    return _list(caller.tenant_id, _reach(caller), state=state, kind=kind, before=before, limit=limit)


def list_all_jobs(
    *, tenant_id: UUID, limit: int, state: str | None = None, kind: str | None = None
) -> list[Job]:
    """Any jobs of the tenant, newest first, for whoever runs this server."""
    return _list(tenant_id, Q(tenant_id=tenant_id), state=state, kind=kind, before=None, limit=limit)


def _list(
    tenant_id: UUID, condition: Q, *, state: str | None, kind: str | None, before: UUID | None, limit: int
) -> list[Job]:
    if state:
        condition &= Q(state=state)
    if kind:
        condition &= Q(kind=kind)
    if before is not None:
        condition &= Q(id__lt=before)
    with scope(tenant_id):
        return list(Job.objects.filter(condition).order_by("-id")[:limit])


def replay_job(*, caller: Caller, job_id: UUID) -> Job:
    """Puts a dead letter back into the queue, with all its attempts. Raises Conflict for any other job."""
    with scope(caller.tenant_id):
        job = Job.objects.select_for_update().filter(_reach(caller), id=job_id).first()
        if job is None:
            raise NotFound("There is no such job.")
        if job.state != JobState.FAILED:
            raise Conflict("Only a failed job can be replayed.")
        _requeue(
            Job.objects.filter(tenant_id=caller.tenant_id, id=job_id), caller.tenant_id, caller.principal
        )
        job.refresh_from_db()
        idempotency.keep(job, user_id=job.user_id)
    return job


def replay_all(
    *, tenant_id: UUID, actor: str, kind: str | None = None, job_ids: Collection[UUID] | None = None
) -> int:
    """Puts every dead letter of the tenant back, or those of one kind, or with these ids; how many. In short
    transactions, and each once, although some fail again meanwhile."""
    dead = Q(tenant_id=tenant_id, state=JobState.FAILED)
    if kind:
        dead &= Q(kind=kind)
    if job_ids is not None:
        dead &= Q(id__in=job_ids)
    replayed, last = 0, UUID(int=0)
    while True:
        with scope(tenant_id):
            found = Job.objects.filter(dead, id__gt=last).order_by("id")
            ids = list(found.values_list("id", flat=True)[:TOGETHER])
            replayed += _requeue(Job.objects.filter(dead, id__in=ids), tenant_id, actor)
        if len(ids) < TOGETHER:
            return replayed
        last = ids[-1]


def _requeue(dead: QuerySet[Job], tenant_id: UUID, actor: str) -> int:
    """Without their dedup keys: another with the same may wait meanwhile."""
    kinds = dict(dead.values_list("kind").annotate(Count("id")))
    dead.update(state=JobState.QUEUED, attempts=0, run_at=Now(), finished_at=None, dedup_key=None, error="")
    if kinds:
        audit.record(tenant_id=tenant_id, actor=actor, action="job.replay", kinds=kinds)
    transaction.on_commit(wake.wake_both)
    return sum(kinds.values())


def _reach(caller: Caller) -> Q:
    condition = Q(tenant_id=caller.tenant_id)
    if caller.user_id:  # an erasure does not say in its row whom it erases
        asked_for = Q(user_id="", requested_by=actor_of(caller, caller.user_id))
        condition &= Q(user_id=caller.user_id) | asked_for
    is_officer = caller.may("privacy") or caller.may("admin")
    if not is_officer or caller.agent_id or caller.project:  # a job does not say whose agent's it is
        condition &= Q(requested_by=caller.principal)
    if not caller.may("read"):
        condition &= Q(kind__in=kinds_for_privacy())
    return condition
