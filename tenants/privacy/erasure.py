"""Erasing a person: asked for in one commit, done by a job, proved by a scan, told by a receipt.

The moment that counts is that of the request, `erased_at`. Whatever came in until then is deleted, and what
was begun before it can write nothing after it (`tenants.tombstones`). What comes in later stays.
"""

import time
from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Unavailable
from tenants.jobs import progress
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.kinds import register as register_kind
from tenants.jobs.queue import enqueue
from tenants.models import Job, Tenant, Tombstone
from tenants.privacy.receipts import Digest, plain, signed
from tenants.privacy.redis_residue import redis_clock, scan_redis
from tenants.privacy.registry import Handler, Rows, Subject, handlers, tell_erased, with_sessions
from tenants.privacy.residue import scan_tables
from tenants.refusals import forget_refused
from tenants.scope import scope
from tenants.subjects import actor_of, asked_by, confine, pseudonym
from tenants.tombstones import bury, subject_of

KIND = "subject.erase"
COMPLETED = "subject.erased"  # in the audit log, as KIND is for its beginning
PASSES = 3  # of deleting and scanning, while the scan finds something and there was something to delete
VERSION = 3  # of the receipt
AWAY = 5.0  # seconds after which a store that was away is tried again


def request_erasure(*, caller: Caller, user_id: str, now: datetime) -> Job:
    """Has everything of the person deleted that came in until `now`; the job that does it.

    From the commit of this on, work that was begun before it writes nothing more. Raises Forbidden when the
    key does not reach all of the person's memory.
    """
    confine(caller, user_id)
    return begin_erasure(
        tenant_id=caller.tenant_id, user_id=user_id, actor=actor_of(caller, user_id), now=now
    )


def begin_erasure(*, tenant_id: UUID, user_id: str, actor: str, now: datetime) -> Job:
    """Likewise, for whoever may do it anyway; `actor` is the name for the audit log."""
    with scope(tenant_id):
        tombstone = bury(tenant_id=tenant_id, user_id=user_id, requested_by=actor, now=now)
        name = pseudonym(tenant_id=tenant_id, user_id=user_id)
        audit.record(tenant_id=tenant_id, actor=actor, action=KIND, target=name)
        # Not in the job's own column: it would be dropped with the person's other jobs.
        job_id = enqueue(
            KIND,
            payload={"user_id": user_id},
            requested_by=actor,
            dedup_key=asked_by(tombstone.subject, actor),
            now=now,
        )
        job = Job.objects.get(tenant_id=tenant_id, id=job_id)
        idempotency.keep(job, user_id="")  # the answer names nobody, and outlives the person's memory
    return job


def is_under_way(*, tenant_id: UUID, user_id: str) -> bool:
    """Whether an erasure of the person was asked for and is not done. In the open scope."""
    return bool(_open_tombstones(tenant_id, user_id).exists())


def list_receipts(
    *, caller: Caller, user_id: str, limit: int, before: tuple[datetime, UUID] | None = None
) -> list[Tombstone]:
    """The person's erasures, newest first; `before`: continue after that one. Raises Forbidden as above."""
    confine(caller, user_id)
    subject = subject_of(tenant_id=caller.tenant_id, user_id=user_id)
    condition = Q(tenant_id=caller.tenant_id, subject=subject)
    if before is not None:
        condition &= Q(erased_at__lt=before[0]) | Q(erased_at=before[0], id__lt=before[1])
    with scope(caller.tenant_id):
        return list(Tombstone.objects.filter(condition).order_by("-erased_at", "-id")[:limit])


def _open_tombstones(tenant_id: UUID, user_id: str) -> Any:
    subject = subject_of(tenant_id=tenant_id, user_id=user_id)
    return Tombstone.objects.filter(tenant_id=tenant_id, subject=subject, completed_at=None)


class _Erasure:
    """One run of the job. Rows are counted in the tombstone in the commit that deletes them."""

    def __init__(self, task: Task, tombstone: Tombstone) -> None:
        self.task, self.tombstone_id = task, tombstone.id
        self.subject = Subject(task.tenant_id, task.payload["user_id"], tombstone.erased_at)
        self.done = sum(tombstone.receipt.get("erased", {}).values())
        rows = [one for one in handlers().values() if isinstance(one, Rows)]
        with scope(task.tenant_id):
            self.total = self.done + sum(one.count(self.subject) for one in rows)

    def run(self) -> dict[str, Any]:
        """The receipt's own part: what was left, after how many passes."""
        left: dict[str, int] = {}
        alike: dict[str, int] = {}
        for number in range(1, PASSES + 1):
            since = redis_clock()
            self.subject = with_sessions(self.subject)
            erased = sum(self._erase_all(one) for one in handlers().values())
            if number > 1 and not erased:
                break  # another scan would find the same
            found = scan_tables(self.subject, report=self._report)
            alike = found.coincidences
            left = found.residue | scan_redis(self.subject, since=since, report=self._report)
            if not left:
                break
        forget_refused(self.subject.tenant_id)  # ids and digests of what the models did not take
        return {"residue": left, "coincidences": alike, "passes": number}

    def _erase_all(self, handler: Handler) -> int:
        erased = 0
        while batch := self._erase_batch(handler):
            erased += batch
            self.done += batch
            self._report()
            if not isinstance(handler, Rows):
                break  # does all at once
        return erased

    def _erase_batch(self, handler: Handler) -> int:
        if isinstance(handler, Rows):
            digest = Digest()
            with handler.transaction(self.subject.tenant_id):
                erased = handler.erase(self.subject, digest.add)
                self._count(handler.name, erased, digest)
        else:
            erased = handler.erase(self.subject)
            with scope(self.subject.tenant_id):
                self._count(handler.name, erased)
        return erased

    def _count(self, name: str, erased: int, digest: Digest | None = None) -> None:
        if not erased:
            return
        mine = Tombstone.objects.select_for_update().filter(tenant_id=self.subject.tenant_id)
        tombstone = mine.get(id=self.tombstone_id)
        counts = Counter(tombstone.receipt.get("erased", {}))
        counts[name] += erased
        digests = dict(tombstone.receipt.get("digests", {}))
        if digest:
            digests[name] = digest.joined(digests.get(name, ""))
        tombstone.receipt = {**tombstone.receipt, "erased": counts, "digests": digests}
        tombstone.save(update_fields=["receipt"])

    def _report(self) -> None:
        """Raises LeaseLost when another worker has the job."""
        self.total = max(self.total, self.done)
        progress.report(self.task, done=self.done, total=self.total)


def _prepare(task: Task) -> dict[str, Any] | None:
    """The receipt; None when another job has done it meanwhile."""
    began = time.monotonic()
    with scope(task.tenant_id):
        newest = _open_tombstones(task.tenant_id, task.payload["user_id"]).order_by("-erased_at").first()
    if newest is None:
        return None
    try:
        erasure = _Erasure(task, newest)
        outcome = erasure.run()
    except Unavailable as error:
        raise RetryLater(str(error), after=AWAY) from error
    seconds = round(time.monotonic() - began, 3)
    return {"until": erasure.subject.until, "receipt": {"version": VERSION, **outcome, "seconds": seconds}}


def _apply(task: Task, prepared: dict[str, Any] | None) -> dict[str, Any]:
    """Writes and signs the receipt, and has the job forget whom it erased."""
    subject = subject_of(tenant_id=task.tenant_id, user_id=task.payload["user_id"])
    theirs = Tombstone.objects.filter(tenant_id=task.tenant_id, subject=subject).order_by("erased_at")
    if prepared is not None:
        for tombstone in theirs.filter(erased_at__lte=prepared["until"], completed_at=None):
            _complete(tombstone, prepared["receipt"])
    Job.objects.filter(tenant_id=task.tenant_id, id=task.id).update(payload={}, dedup_key=None)
    last = theirs.exclude(completed_at=None).last()
    return dict(last.receipt) if last else {}


def _complete(tombstone: Tombstone, outcome: dict[str, Any]) -> None:
    """In the open scope."""
    tombstone.completed_at = timezone.now()
    counts = dict.fromkeys(handlers(), 0) | tombstone.receipt.get("erased", {})
    tombstone.receipt = signed(
        {
            **outcome,
            "id": str(tombstone.id),
            "tenant": Tenant.objects.values_list("slug", flat=True).get(id=tombstone.tenant_id),
            "subject": tombstone.subject,
            "erased_at": plain(tombstone.erased_at),
            "completed_at": plain(tombstone.completed_at),
            "erased": counts,
            "digests": tombstone.receipt.get("digests", {}),
        }
    )
    tombstone.save(update_fields=["receipt", "completed_at"])
    audit.record(
        tenant_id=tombstone.tenant_id,
        actor=tombstone.requested_by,
        action=COMPLETED,
        target=f"subject:{tombstone}",
        erased={name: count for name, count in counts.items() if count},
        residue=outcome["residue"],
    )
    tell_erased(tenant_id=tombstone.tenant_id, subject=tombstone.subject, erased_at=tombstone.erased_at)


def register_kinds() -> None:
    """Called once the models are loaded."""
    register_kind(
        Kind(
            KIND,
            _apply,
            prepare=_prepare,
            slow=True,
            urgent=True,
            keep=True,
            sees_restricted=True,
            for_privacy=True,
            attempts=50,
        )
    )
