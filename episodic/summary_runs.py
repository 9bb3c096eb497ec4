"""Runs of whole summary views, by the ids that clients know them by."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet

from episodic.models import SummaryRun, SummaryView
from tenants.caller import Caller
from tenants.errors import NotFound
from tenants.models import Job
from tenants.router import admin_role
from tenants.scope import scope

MISSING = "There is no such task."


def find_run(*, caller: Caller, task_id: str) -> tuple[SummaryRun, Job] | None:
    """The newest run within the key's reach that goes by this id and whose job was not cleared, with that, in
    the open scope."""
    bound = {"user_id": caller.user_id, "agent_id": caller.agent_id, "project": caller.project}
    mine = {name: value for name, value in bound.items() if value}
    for run in SummaryRun.objects.filter(tenant_id=caller.tenant_id, task_id=task_id, **mine).order_by("-id"):
        job = Job.objects.filter(tenant_id=caller.tenant_id, id=run.job_id).first()
        if job is not None:
            return run, job
    return None


def access_run(*, caller: Caller, task_id: str) -> tuple[SummaryRun, Job]:
    """The run and its job. Raises NotFound, also when the job was cleared."""
    if "\x00" in task_id:
        raise NotFound(MISSING)
    with scope(caller.tenant_id):
        found = find_run(caller=caller, task_id=task_id)
    if found is None:
        raise NotFound(MISSING)
    return found


def add_run(
    *, view: SummaryView, user_id: str, job_id: UUID, task_id: str | None, now: datetime
) -> SummaryRun:
    """Records a run in the open scope, for the user whose groups it makes, if one's; in the place of one of
    this id whose job was cleared."""
    known_by: dict[str, Any] = {
        "tenant_id": view.tenant_id,
        "task_id": task_id or str(job_id),
        "user_id": user_id or view.user_id,
        "agent_id": view.agent_id,
        "project": view.project,
    }
    if task_id:
        _clear(SummaryRun.objects.filter(**known_by), view.tenant_id)
    return SummaryRun.objects.create(**known_by, view_id=view.id, job_id=job_id, created_at=now)


def begin_run(*, tenant_id: UUID, job_id: UUID, now: datetime) -> datetime:
    """Notes that the job has begun; when it first did, `now` if nobody asked for it by an id."""
    mine = Q(tenant_id=tenant_id, job_id=job_id)
    with scope(tenant_id):
        SummaryRun.objects.filter(mine, started_at=None).update(started_at=now)
        return SummaryRun.objects.filter(mine).values_list("started_at", flat=True).first() or now


def clear_runs(*, now: datetime) -> int:
    """Deletes those whose jobs have been cleared; how many. Asks as the admin role which tenants have any."""
    old = Q(created_at__lt=now - timedelta(days=settings.JOB_KEEP_DAYS))
    with admin_role():
        tenants = list(SummaryRun.objects.filter(old).values_list("tenant_id", flat=True).distinct())
    cleared = 0
    for tenant_id in tenants:
        with scope(tenant_id):
            cleared += _clear(SummaryRun.objects.filter(old, tenant_id=tenant_id), tenant_id)
    return cleared


def _clear(runs: QuerySet[SummaryRun], tenant_id: UUID) -> int:
    """Deletes those of them that have no job any more; how many."""
    left = Job.objects.filter(tenant_id=tenant_id, id__in=runs.values("job_id"))
    return runs.exclude(job_id__in=left.values("id")).delete()[0]
