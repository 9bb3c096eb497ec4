"""One deed on very many observations, as a job: it goes on where a worker was killed, and can be stopped.

What is meant is fixed when it is asked for, as a list of ids: never more than were stated are changed. Each
batch is a commit of its own, together with how far the job is, so none is done twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import Any, cast
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from observations import bulk
from observations.bulk import Deed, Done, change_batch, change_many, check_deed, choose, still_meant
from observations.trail import record
from observations.types import Selection
from tenants.caller import Caller
from tenants.caller import Kind as CallerKind
from tenants.errors import Forbidden, NotFound
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, LeaseLost, Task
from tenants.jobs.queue import enqueue
from tenants.models import Job, JobState
from tenants.scope import scope

BULK = "observations.bulk"
AT_ONCE = 300  # up to so many are changed while one waits: less than a second
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)
MOMENTS = ("since", "until")


@dataclass(frozen=True, slots=True)
class BulkJob:
    """A deed that is done by a job, how far it is, and what came of it so far."""

    job: Job
    deed: str
    done: Done
    is_stopped: bool

    @property
    def is_under_way(self) -> bool:
        return self.job.state in UNDER_WAY


@dataclass(frozen=True, slots=True)
class _Order:
    """What a job is to do, and to which observations."""

    caller: Caller
    condition: Q
    ids: list[int]
    deed: Deed
    value: str


def change_or_begin(
    *,
    caller: Caller,
    where: Selection,
    deed: Deed,
    value: str = "",
    most: int | None = None,
    now: datetime,
) -> Done | UUID:
    """Does it to the newest `most` of these, `bulk.MOST` at the most: up to `AT_ONCE` at once, as
    `change_many` does; more by a job, of which this is the id. That one changes those that are chosen now,
    and passes by what no longer is as chosen when their turn comes; the audit log tells who asked for it and,
    once, how many were changed. Raises Invalid; Forbidden for a bound key that means more than `AT_ONCE`."""
    value = check_deed(deed, value)
    ids = choose(caller=caller, where=where, most=most)
    if len(ids) <= AT_ONCE:
        exact = replace(where, ids=tuple(ids))
        return change_many(caller=caller, where=exact, deed=deed, value=value, now=now) if ids else Done()
    if _is_bound(caller):
        raise Forbidden(f"A key that is bound changes up to {AT_ONCE} at a time.")
    payload = {
        "deed": deed,
        "value": value,
        "where": _shown(where),
        "ids": packed(ids),
        "caller": {"kind": caller.kind, "key_id": caller.key_id},
    }
    with scope(caller.tenant_id):
        job_id = enqueue(
            BULK,
            payload=payload,
            user_id=where.user_id,
            requested_by=caller.principal,
            total=len(ids),
            now=now,
        )
        record(caller, "bulk_begin", str(job_id), asked=deed, stated=len(ids))
    return job_id


def read_bulk(*, caller: Caller, job_id: UUID) -> BulkJob:
    """One of the tenant's, for whoever may change all of its observations. Raises NotFound."""
    job = None
    if caller.may("write") and not _is_bound(caller):
        with scope(caller.tenant_id):
            job = Job.objects.filter(tenant_id=caller.tenant_id, kind=BULK, id=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    came = job.result or {}
    done = Done(**{name: came.get(name, 0) for name in Done.__dataclass_fields__})
    return BulkJob(job, job.payload.get("deed", ""), done, bool(job.payload.get("stop")))


def stop_bulk(*, caller: Caller, job_id: UUID) -> BulkJob:
    """Has it end after the batch that it is at; what was changed stays so. One that has ended stays as it is.
    Raises NotFound."""
    read_bulk(caller=caller, job_id=job_id)
    with scope(caller.tenant_id):
        mine = Job.objects.filter(tenant_id=caller.tenant_id, id=job_id, state__in=UNDER_WAY)
        job = mine.select_for_update().first()
        if job is not None and not job.payload.get("stop"):
            Job.objects.filter(tenant_id=caller.tenant_id, id=job_id).update(
                payload=job.payload | {"stop": True}
            )
            record(caller, "bulk_stop", str(job_id))
    return read_bulk(caller=caller, job_id=job_id)


def bulk_kind() -> Kind:
    """The job of one deed. It keeps what came of it, and not what was chosen."""

    def prepare(task: Task) -> None:
        order = _order(task)
        while _step(task, order):
            pass

    return Kind(BULK, _conclude, prepare=prepare, slow=True, keep=True)


def packed(ids: list[int]) -> str:
    """Numbers, in order of size, as the first of them and the steps between them: a few bytes each."""
    rising = sorted(ids)
    return " ".join(map(str, [*rising[:1], *(after - before for before, after in pairwise(rising))]))


def unpacked(text: str) -> Iterator[int]:
    """The numbers again."""
    return accumulate(map(int, text.split()))


def _is_bound(caller: Caller) -> bool:
    return bool(caller.user_id or caller.agent_id or caller.project)


def _step(task: Task, order: _Order) -> bool:
    """Changes the next batch; False when there is none, or somebody has stopped it. Raises LeaseLost."""
    with scope(task.tenant_id):
        mine = Job.objects.filter(tenant_id=task.tenant_id, id=task.id)
        found = mine.values_list("done", "result", "payload__stop").first()
        if found is None:
            raise LeaseLost(f"Job {task.id} is gone.")
        so_far, came, is_stopped = found
        batch = order.ids[so_far : so_far + bulk.TOGETHER]
        if not batch or is_stopped:
            return False
        part = change_batch(
            order.caller, order.condition, batch,
            deed=order.deed, value=order.value, since=task.since, now=timezone.now(),
        )  # fmt: skip
        # Last, since it locks the job's row; a worker that lost it undoes the batch.
        progress.report(task, done=so_far + len(batch), total=len(order.ids))
        mine.update(result=asdict(Done(**(came or {})) + part))
    return True


def _conclude(task: Task, _prepared: None) -> dict[str, Any]:
    """In the commit that ends the job."""
    mine = Job.objects.filter(tenant_id=task.tenant_id, id=task.id)
    job = mine.get()
    stopped = {"stop": True} if job.payload.get("stop") else {}
    came = asdict(Done()) | (job.result or {})
    deed, stated = job.payload["deed"], job.total
    record(_caller(task), f"bulk_{deed}", str(task.id), count=came["changed"], stated=stated, **stopped)
    mine.update(payload={"deed": deed} | stopped)
    return came


def _order(task: Task) -> _Order:
    caller = _caller(task)
    where = _selection(task.payload["where"])
    return _Order(
        caller=caller,
        condition=still_meant(caller, where),
        ids=list(unpacked(task.payload["ids"])),
        deed=cast(Deed, task.payload["deed"]),
        value=task.payload["value"],
    )


def _caller(task: Task) -> Caller:
    """Whoever asked for it, with what it takes to do it. Whether they might was decided then."""
    named = task.payload["caller"]
    return Caller(
        tenant_id=task.tenant_id,
        tenant="",
        key_id=named["key_id"],
        scopes=frozenset({"write"}),
        kind=cast(CallerKind, named["kind"]),
    )


def _shown(where: Selection) -> dict[str, Any]:
    """As JSON: what is filled in, but for the ids."""
    given = {name: value for name, value in asdict(where).items() if value and name != "ids"}
    return {name: value.isoformat() if name in MOMENTS else value for name, value in given.items()}


def _selection(shown: Mapping[str, Any]) -> Selection:
    moments = {name: datetime.fromisoformat(shown[name]) for name in MOMENTS if name in shown}
    return Selection(**(dict(shown) | moments))
