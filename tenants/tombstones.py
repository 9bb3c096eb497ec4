"""Erased people: work that began before an erasure must not bring anything back after it.

A tombstone holds an HMAC of the user id, so that the log of erasures does not name the erased. Whoever writes
a person's memory long after its cause takes a shared lock on the person and looks for a tombstone; whoever
erases takes the lock alone. So either the write is committed before the erasure looks for what there is, or
it sees the tombstone.
"""

import hashlib
import hmac
from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from tenants.errors import DomainError
from tenants.models import Job, JobState, Tombstone

# Two statements, one round trip: the second sees what was committed while the first waited.
LAST_ERASURES = """
SELECT pg_advisory_xact_lock_shared(k) FROM unnest(%(locks)s::bigint[]) k;
SELECT subject, max(erased_at) FROM tenants_tombstone
WHERE tenant_id = %(tenant)s AND subject = ANY(%(subjects)s) GROUP BY subject
"""
LOCK_ALONE = "SELECT pg_advisory_xact_lock(%s)"


class Erased(DomainError):
    """The person was erased since the work's cause came in: there is nothing to be written any more."""


def subject_of(*, tenant_id: UUID, user_id: str) -> str:
    """The HMAC-SHA-256, in hex, that stands for a person in a tenant."""
    key = hashlib.sha256(b"strata subject" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, f"{tenant_id.hex}/{user_id}".encode(), hashlib.sha256).hexdigest()


def bury(*, tenant_id: UUID, user_id: str, requested_by: str, now: datetime) -> Tombstone:
    """Sets the tombstone in the open scope, after the last write that does not know of it has ended.

    The person is erased as of that moment, or of `now` if that is later: a write that was waited for may have
    dated its rows since the request came in.
    """
    subject = subject_of(tenant_id=tenant_id, user_id=user_id)
    with connection.cursor() as cursor:
        cursor.execute(LOCK_ALONE, [_lock_of(subject)])
    # Work that is asked for from now on must not join a job from before, which is going to do nothing.
    waiting = Job.objects.filter(tenant_id=tenant_id, user_id=user_id, state=JobState.QUEUED)
    dropped = waiting.delete()[1].get("tenants.Job", 0)
    return Tombstone.objects.create(
        tenant_id=tenant_id,
        subject=subject,
        erased_at=max(now, timezone.now()),
        requested_by=requested_by,
        receipt={"erased": {"job": dropped}} if dropped else {},
    )


def last_erasures(*, tenant_id: UUID, user_ids: Collection[str]) -> dict[str, datetime]:
    """When each of the users was last erased; those who never were are missing. None of them can be erased
    until the open scope ends."""
    subjects = {subject_of(tenant_id=tenant_id, user_id=user_id): user_id for user_id in user_ids}
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "subjects": list(subjects),
        "locks": sorted(map(_lock_of, subjects)),
    }
    with connection.cursor() as cursor:
        cursor.execute(LAST_ERASURES, params)
        cursor.nextset()
        return {subjects[subject]: erased_at for subject, erased_at in cursor.fetchall()}


def refuse_erased(*, tenant_id: UUID, user_id: str, since: datetime) -> None:
    """Raises Erased when the user was erased since then; otherwise none can erase them until the open scope
    ends. A memory of nobody's is never refused."""
    if not user_id:
        return
    erased_at = last_erasures(tenant_id=tenant_id, user_ids=[user_id]).get(user_id)
    if erased_at is not None and erased_at >= since:
        raise Erased("This person's memory was erased meanwhile.")


def _lock_of(subject: str) -> int:
    """The advisory lock of a person: 63 bits, so that two people seldom share one."""
    return int(subject[:15], 16)
