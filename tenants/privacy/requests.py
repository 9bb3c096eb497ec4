"""What privacy officers look at: how much an erasure would take, requests under way, receipts, and where
that is of which a receipt says that it was left."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound, Unavailable
from tenants.models import Job, JobState, Tombstone
from tenants.privacy import erasure, export
from tenants.privacy.links import Link, link_to
from tenants.privacy.redis_residue import find_in_redis
from tenants.privacy.registry import Rows, Subject, handlers
from tenants.privacy.residue import find_rows
from tenants.scope import restricted_shown, scope
from tenants.subjects import confine
from tenants.tombstones import subject_of

UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)
EXPORTS = 10
TOLD = 20  # things of each place that a receipt names
SLICES = 20  # of a table that are looked through for them: a million rows
PATIENCE = 5.0  # seconds that Redis is looked through for them
SESSIONS = ("redis.sessions", "redis.values")
Position = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Export:
    """An export of a person; `link` when it can be downloaded, for a while."""

    job: Job
    link: Link | None

    @property
    def is_waiting(self) -> bool:
        """Whether it is still being made."""
        return self.job.state in UNDER_WAY


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What of the person there is now in the places of a receipt, `TOLD` of each at most: rows as the column
    that was asked for, sessions in Redis as namespace, user and client's id."""

    rows: Mapping[str, list[str]] = field(default_factory=dict)
    sessions: Mapping[str, list[tuple[str, str, str]]] = field(default_factory=dict)


def blast_radius(*, caller: Caller, user_id: str, now: datetime) -> Mapping[str, int]:
    """How many rows an erasure would delete now in each store that holds any, the most first. Keys in Redis
    go as well, and are not counted. Raises Forbidden when the caller does not reach all of the person's
    memory."""
    confine(caller, user_id)
    subject = Subject(caller.tenant_id, user_id, now)
    with restricted_shown(), scope(caller.tenant_id):
        counts = {one.name: one.count(subject) for one in handlers().values() if isinstance(one, Rows)}
    return {name: count for name, count in sorted(counts.items(), key=lambda one: -one[1]) if count}


def exports_of(*, caller: Caller, user_id: str, now: datetime) -> list[Export]:
    """The newest exports of the person, whoever asked for them. Raises Forbidden as above, and for whoever
    may not see to others' privacy."""
    _check(caller)
    confine(caller, user_id)
    with restricted_shown(), scope(caller.tenant_id):
        mine = Job.objects.filter(tenant_id=caller.tenant_id, kind=export.KIND, user_id=user_id)
        jobs = list(mine.order_by("-id")[:EXPORTS])
    return [Export(job, link_to(job, caller=caller, now=now)) for job in jobs]


def open_requests(*, caller: Caller, limit: int) -> list[Job]:
    """Exports and erasures of the tenant that are under way or have failed, newest first. Raises Forbidden as
    above."""
    _check(caller)
    states = [*UNDER_WAY, JobState.FAILED]
    kinds = [export.KIND, erasure.KIND]
    with restricted_shown(), scope(caller.tenant_id):
        asked = Job.objects.filter(tenant_id=caller.tenant_id, kind__in=kinds, state__in=states)
        return list(asked.order_by("-id")[:limit])


def access_erasure(*, caller: Caller, job_id: UUID) -> Job:
    """The job of an erasure. Raises NotFound for any other, Forbidden as above."""
    _check(caller)
    with restricted_shown(), scope(caller.tenant_id):
        found = Job.objects.filter(tenant_id=caller.tenant_id, id=job_id, kind=erasure.KIND).first()
    if found is None:
        raise NotFound("There is no such erasure.")
    return found


def list_all_receipts(*, caller: Caller, limit: int, before: Position | None = None) -> list[Tombstone]:
    """The tenant's erasures, newest first; `before`: continue after that one. Raises Forbidden as above."""
    _check(caller)
    condition = Q(tenant_id=caller.tenant_id)
    if before is not None:
        condition &= Q(erased_at__lt=before[0]) | Q(erased_at=before[0], id__lt=before[1])
    with scope(caller.tenant_id):
        return list(Tombstone.objects.filter(condition).order_by("-erased_at", "-id")[:limit])


def access_receipt(*, caller: Caller, receipt_id: UUID) -> Tombstone:
    """An erasure that is done. Raises NotFound, Forbidden as above."""
    _check(caller)
    with scope(caller.tenant_id):
        done = Tombstone.objects.filter(tenant_id=caller.tenant_id).exclude(completed_at=None)
        found = done.filter(id=receipt_id).first()
    if found is None:
        raise NotFound("There is no such receipt.")
    return found


def find_left(
    *, caller: Caller, receipt: Tombstone, user_id: str, things: Mapping[str, str]
) -> Whereabouts | None:
    """Where that is now which the receipt says was left of this person; None when it is about somebody else:
    it names nobody, so whoever asks has to. `things` are the columns that identify what can be looked at, by
    table. Raises Forbidden as above."""
    _check(caller)
    if subject_of(tenant_id=caller.tenant_id, user_id=user_id) != receipt.subject:
        return None
    subject = Subject(caller.tenant_id, user_id, receipt.erased_at)
    rows = {}
    with restricted_shown():
        for place in receipt.receipt.get("residue", {}):
            if thing := things.get(place.partition(".")[0]):
                rows[place] = find_rows(subject, place=place, thing=thing, most=TOLD, slices=SLICES)
    return Whereabouts(rows, _sessions_left(subject, receipt))


def _sessions_left(subject: Subject, receipt: Tombstone) -> Mapping[str, list[tuple[str, str, str]]]:
    asked = {place for place in SESSIONS if place in receipt.receipt.get("residue", {})}
    found: dict[str, dict[tuple[str, str, str], None]] = {place: {} for place in sorted(asked)}
    since, begun = int(receipt.erased_at.timestamp() * 1_000_000), time.monotonic()

    def watch() -> None:
        if time.monotonic() > begun + PATIENCE:
            raise Unavailable("Redis holds too much to be looked through now.")

    with suppress(Unavailable):  # then the page tells the rest
        for hit in find_in_redis(subject, since=since, report=watch) if asked else ():
            if hit.place in found and len(found[hit.place]) < TOLD:
                found[hit.place][hit.session] = None
            if all(len(one) == TOLD for one in found.values()):
                break
    return {place: list(sessions) for place, sessions in found.items()}


def _check(caller: Caller) -> None:
    if not caller.may("privacy") or caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("Only a privacy officer of the whole tenant may see this.")
