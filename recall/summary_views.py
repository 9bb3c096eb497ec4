"""Making all summaries of a view: by a job that somebody has asked for, and again by the clock.

Each summary is a commit of its own. A job that is cut off goes on where it was: what was made of the same
records, or has been made since it began, is not made again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone

from episodic.models import SummaryRun, SummaryView
from episodic.summary_partitions import groups_of, other_groups
from episodic.summary_retiring import REFRESH
from episodic.summary_runs import access_run, add_run, begin_run, clear_runs, find_run
from episodic.summary_views import Group, access_view, continuous_views, find_view
from recall.digesting import Digest
from recall.partitions import refresh_partition
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.queue import enqueue
from tenants.models import Job
from tenants.scope import scope
from tenants.system import SYSTEM
from tenants.tombstones import refuse_erased

RUN = "summary_view.run"
PATIENCE = 4  # attempts of a job that wait for the language model; then the deterministic summary stands


@dataclass(frozen=True, slots=True)
class ViewTask:
    """A run of a whole view, and the job that says what has become of it."""

    run: SummaryRun
    job: Job


def run_view(*, caller: Caller, view_id: str, force: bool, task_id: str | None, now: datetime) -> ViewTask:
    """Has the summaries of all groups made by a job, those of records that have not changed only with
    `force`. The same `task_id` again is the same task, as long as its job is kept. Raises NotFound, and
    Conflict for an id that stands for a run of another view."""
    view = access_view(caller=caller, view_id=view_id)
    try:
        return _asked(caller, view, force, task_id, now)
    except IntegrityError:  # another request with the same id was first, just now
        return _asked(caller, view, force, task_id, now)


def access_task(*, caller: Caller, task_id: str) -> ViewTask:
    """A run within the key's reach. Raises NotFound, also when its job was cleared."""
    return ViewTask(*access_run(caller=caller, task_id=task_id))


def refresh_views(*, now: datetime) -> int:
    """Records a job for each view that is continuous, and forgets old runs; how many views. A named
    cross-tenant job; safe to run several times at once."""
    clear_runs(now=now)
    views = continuous_views()
    for tenant_id, view_id in views:
        with scope(tenant_id):
            payload = {"view": str(view_id)}
            enqueue(REFRESH, payload=payload, now=now, requested_by=SYSTEM, dedup_key=str(view_id))
    return len(views)


def run_kind() -> Kind:
    """The job that somebody has asked for."""
    return Kind(RUN, _apply, prepare=_prepare, slow=True, keep=True)


def refresh_kind() -> Kind:
    """Likewise of the clock's, or of one group for whose summary the language model was away."""
    return Kind(REFRESH, _apply, prepare=_prepare, slow=True)


def _asked(caller: Caller, view: SummaryView, force: bool, task_id: str | None, now: datetime) -> ViewTask:
    user_id = caller.user_id or view.user_id
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        known = find_run(caller=caller, task_id=task_id) if task_id else None
        if known is None:
            payload = {"view": str(view.id), "user": user_id, "force": force}
            by = caller.principal
            job_id = enqueue(RUN, payload=payload, now=now, user_id=user_id, requested_by=by)
            run = add_run(view=view, user_id=user_id, job_id=job_id, task_id=task_id, now=now)
            known = run, Job.objects.get(tenant_id=caller.tenant_id, id=job_id)
        task = ViewTask(*known)
        if task.run.view_id != view.id:
            raise Conflict("This task id stands for a run of another summary view.")
        idempotency.keep(task, user_id=user_id)
    return task


def _prepare(task: Task) -> Mapping[str, int]:
    """The summaries; how many groups there are, and of how many the summary was made."""
    view = find_view(tenant_id=task.tenant_id, view_id=UUID(task.payload["view"]))
    if view is None:
        return {"groups": 0, "made": 0}
    begun = begin_run(tenant_id=task.tenant_id, job_id=task.id, now=timezone.now())
    since = begun if task.payload.get("force") else None
    groups, made = _groups(task, view), 0
    try:
        for done, group in enumerate(groups):
            progress.report(task, done=done, total=len(groups))
            made += _made(task, view, group, since)
    except NotFound:  # the view was deleted meanwhile
        return {"groups": len(groups), "made": made}
    progress.report(task, done=len(groups), total=len(groups))
    return {"groups": len(groups), "made": made}


def _groups(task: Task, view: SummaryView) -> list[Group]:
    """The one that is asked for; else those that have records, and those that only have a summary yet."""
    only, user_id = task.payload.get("group"), task.payload.get("user", "")
    if only is not None:
        return [only]
    groups = groups_of(view=view, user_id=user_id, now=timezone.now())
    return [*groups, *other_groups(view=view, user_id=user_id, but=groups)]


def _made(task: Task, view: SummaryView, group: Group, since: datetime | None) -> bool:
    def check(digest: Digest) -> None:
        if digest.away and task.attempts < PATIENCE:
            raise RetryLater(digest.away, after=digest.retry_after)

    return refresh_partition(view=view, group=group, made_since=since, check=check)


def _apply(_task: Task, prepared: Any) -> Mapping[str, int]:
    done: Mapping[str, int] = prepared
    return done
