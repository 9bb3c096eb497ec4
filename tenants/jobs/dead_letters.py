"""What a person does with jobs that have failed for good, beside replaying them."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden
from tenants.jobs.queue import replay_all
from tenants.models import Job, JobState
from tenants.scope import scope

# What is owed to a person is not given up by a click.
KEPT = frozenset({"subject.erase"})
TOGETHER = 2_000  # deleted by one transaction


def count_dead(
    *, caller: Caller, kind: str | None = None, job_ids: Collection[UUID] | None = None
) -> Mapping[str, int]:
    """How many dead letters of each kind there are: all, those of one kind, or those with these ids. Raises
    Forbidden without scope admin."""
    _check(caller)
    with scope(caller.tenant_id):
        rows = _dead(caller, kind, job_ids).order_by().values_list("kind").annotate(count=Count("id"))
        return dict(sorted(rows))


def replay_dead(*, caller: Caller, kind: str | None = None, job_ids: Collection[UUID] | None = None) -> int:
    """Puts them back into the queue, each with all its attempts; how many. Raises Forbidden likewise."""
    _check(caller)
    return replay_all(tenant_id=caller.tenant_id, actor=caller.principal, kind=kind, job_ids=job_ids)


def drop_dead(*, caller: Caller, kind: str | None = None, job_ids: Collection[UUID] | None = None) -> int:
    """Deletes them: what they were to do is never done. How many; erasures stay, they are owed to a person.
    In short transactions, each of which the audit log tells of. Raises Forbidden likewise, and Conflict when
    nothing but erasures is meant."""
    kinds = set(count_dead(caller=caller, kind=kind, job_ids=job_ids))
    if kinds and kinds <= KEPT:
        raise Conflict("An erasure is owed to a person: replay it.")
    dropped = 0
    while True:
        with scope(caller.tenant_id):
            found = _dead(caller, kind, job_ids).exclude(kind__in=KEPT).select_for_update(skip_locked=True)
            rows = list(found.order_by("id").values_list("id", "kind")[:TOGETHER])
            Job.objects.filter(tenant_id=caller.tenant_id, id__in=[row[0] for row in rows]).delete()
            if rows:
                _record(caller, [row[1] for row in rows])
        dropped += len(rows)
        if len(rows) < TOGETHER:
            return dropped


def _dead(caller: Caller, kind: str | None, job_ids: Collection[UUID] | None) -> QuerySet[Job]:
    dead = Q(tenant_id=caller.tenant_id, state=JobState.FAILED)
    if kind:
        dead &= Q(kind=kind)
    if job_ids is not None:
        dead &= Q(id__in=job_ids)
    return Job.objects.filter(dead)


def _record(caller: Caller, kinds: list[str]) -> None:
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    audit.record(tenant_id=caller.tenant_id, actor=caller.principal, action="job.drop", kinds=counts)


def _check(caller: Caller) -> None:
    if not caller.may("admin") or caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("Dead letters of the whole tenant are for its admins.")
