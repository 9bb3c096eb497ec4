"""Restricting a person's memory (GDPR Art. 18): all of it is kept, and none of it read, changed or added to.

PostgreSQL sees to that by the policies `restricted` (`tenants.isolation.FreezeTable`). What asks it nothing,
such as a session's fields in Redis, calls `refuse_restricted`, and whatever writes a person's memory learns
of it with `tenants.tombstones.refuse_erased`.
"""

import threading
import time
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.db.models.functions import Now

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Forbidden, Invalid, Overdue, Restricted
from tenants.models import Job, JobState, Restriction
from tenants.scope import scope, shows_restricted
from tenants.subjects import actor_of, confine, pseudonym
from tenants.tombstones import lock_person

RESTRICT, LIFT = "subject.restrict", "subject.lift_restriction"
FRESH = 2.0  # seconds for which a process remembers who is restricted
SERVES_STALE = 3_600.0  # seconds for which it does while PostgreSQL is away
TENANTS_KEPT = 10_000
LONGEST_REASON = 1_000
Position = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Lifted:
    """Whether there was a restriction to lift."""

    found: bool


def restrict_subject(*, caller: Caller, user_id: str, reason: str, now: datetime) -> Job:
    """Restricts the person's memory from the commit on: no write is under way any more then. One that is
    restricted stays so since its first day.

    Done at once; the job is what tells of it. Raises Forbidden when the key does not reach all of the
    person's memory, Invalid for nobody.
    """
    _confine(caller, user_id)
    actor = actor_of(caller, user_id)
    with scope(caller.tenant_id):
        lock_person(tenant_id=caller.tenant_id, user_id=user_id)
        restriction, is_new = Restriction.objects.get_or_create(
            tenant_id=caller.tenant_id,
            user_id=user_id,
            defaults={"since": now, "requested_by": actor, "reason": reason[:LONGEST_REASON]},
        )
        if is_new:
            _record(caller, user_id, actor, RESTRICT)
        job = _done(caller, actor, restriction.since, now)
        # The answer names nobody, so it can be given while the person's answers are hidden.
        idempotency.keep(job, user_id="")
        transaction.on_commit(lambda: _known.forget(caller.tenant_id))
    return job


def lift_restriction(*, caller: Caller, user_id: str, now: datetime) -> Lifted:
    """Lets the person's memory be used again, and the work that waited begin. Raises Forbidden as above, and
    for one who is bound to the person where somebody else restricted it: that may be in dispute with them."""
    _confine(caller, user_id)
    actor = actor_of(caller, user_id)
    with scope(caller.tenant_id):
        lock_person(tenant_id=caller.tenant_id, user_id=user_id)
        mine = Restriction.objects.filter(tenant_id=caller.tenant_id, user_id=user_id)
        _check_may_lift(caller, mine.first())
        done = Lifted(bool(mine.delete()[0]))
        if done.found:
            waiting = Job.objects.filter(tenant_id=caller.tenant_id, user_id=user_id, state=JobState.QUEUED)
            waiting.filter(run_at__gt=now).update(run_at=Now())
            _record(caller, user_id, actor, LIFT)
        idempotency.keep(done, user_id="")
        transaction.on_commit(lambda: _known.forget(caller.tenant_id))
    return done


def may_lift(*, caller: Caller, restriction: Restriction) -> bool:
    """Whether `lift_restriction` does it for this caller."""
    return not caller.user_id or restriction.requested_by == actor_of(caller, restriction.user_id)


def _check_may_lift(caller: Caller, restriction: Restriction | None) -> None:
    if restriction is not None and not may_lift(caller=caller, restriction=restriction):
        raise Forbidden("Somebody else restricted this memory, and has to lift that.")


def restriction_of(*, caller: Caller, user_id: str) -> Restriction | None:
    """The person's restriction. Raises Forbidden as above."""
    _confine(caller, user_id)
    with scope(caller.tenant_id):
        return Restriction.objects.filter(tenant_id=caller.tenant_id, user_id=user_id).first()


def list_restrictions(*, caller: Caller, limit: int, before: Position | None = None) -> list[Restriction]:
    """The tenant's restrictions within the key's reach, newest first; `before`: continue after that one."""
    user_id = confine(caller, None)
    condition = Q(tenant_id=caller.tenant_id)
    if user_id:
        condition &= Q(user_id=user_id)
    if before is not None:
        condition &= Q(since__lt=before[0]) | Q(since=before[0], id__lt=before[1])
    with scope(caller.tenant_id):
        return list(Restriction.objects.filter(condition).order_by("-since", "-id")[:limit])


def refuse_restricted(*, tenant_id: UUID, user_id: str) -> None:
    """Raises Restricted when the person was restricted more than `FRESH` seconds ago, and perhaps before.
    Seldom asks PostgreSQL, and joins the tenant's scope if one is open."""
    if user_id and not shows_restricted() and user_id in _known.users(tenant_id):
        raise Restricted("This person's memory is restricted.")


def has_restricted(tenant_id: UUID) -> bool:
    """Whether anybody of the tenant is restricted; as old as above."""
    return bool(_known.users(tenant_id))


def _confine(caller: Caller, user_id: str) -> None:
    if not user_id:
        raise Invalid("Names nobody.", "user_id")
    confine(caller, user_id)


def _record(caller: Caller, user_id: str, actor: str, action: str) -> None:
    subject = pseudonym(tenant_id=caller.tenant_id, user_id=user_id)
    audit.record(tenant_id=caller.tenant_id, actor=actor, action=action, target=subject)


def _done(caller: Caller, actor: str, since: datetime, now: datetime) -> Job:
    return Job.objects.create(
        tenant_id=caller.tenant_id,
        kind=RESTRICT,
        requested_by=actor,
        state=JobState.DONE,
        result={"restricted": True, "since": since.isoformat()},
        max_attempts=1,
        done=1,
        total=1,
        run_at=now,
        created_at=now,
        finished_at=now,
    )


class _Known:
    """Who is restricted in each of the tenants asked about last."""

    def __init__(self) -> None:
        self._kept: dict[UUID, tuple[float, frozenset[str]]] = {}  # with when that was so
        self._lock = threading.Lock()

    def users(self, tenant_id: UUID) -> frozenset[str]:
        kept, now = self._kept.get(tenant_id), time.monotonic()  # from before the answer, not after it
        if kept is not None and kept[0] + FRESH > now:
            return kept[1]
        try:
            users = _restricted_users(tenant_id)
        except (OperationalError, InterfaceError, Overdue):
            if kept is not None and kept[0] + SERVES_STALE > now:
                return kept[1]
            raise
        with self._lock:
            if len(self._kept) >= TENANTS_KEPT:
                self._kept.clear()
            self._kept[tenant_id] = (now, users)
        return users

    def forget(self, tenant_id: UUID) -> None:
        with self._lock:
            self._kept.pop(tenant_id, None)


def _restricted_users(tenant_id: UUID) -> frozenset[str]:
    with scope(tenant_id):
        found = Restriction.objects.filter(tenant_id=tenant_id).values_list("user_id", flat=True)
        return frozenset(found)


_known = _Known()
