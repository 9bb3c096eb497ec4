"""Erased people: work that began before an erasure must not bring anything back after it.

A tombstone holds an HMAC of the user id, so that the log of erasures does not name the erased. Whoever writes
a person's memory long after its cause takes a shared lock on the person and looks for a tombstone; whoever
erases takes the lock alone. So either the write is committed before the erasure looks for what there is, or
it sees the tombstone.
"""

import hashlib
import hmac
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from tenants.errors import DomainError, Restricted
from tenants.link_revocations import void_links
from tenants.models import Job, JobState, Tombstone
from tenants.scope import shows_restricted

# Statements of one round trip: the later ones see what was committed while the first waited.
STANDINGS = """
SELECT pg_advisory_xact_lock_shared(k) FROM unnest(%(locks)s::bigint[]) k;
SELECT subject, max(erased_at) FROM tenants_tombstone
WHERE tenant_id = %(tenant)s AND subject = ANY(%(subjects)s) GROUP BY subject
UNION ALL SELECT user_id, NULL FROM tenants_restriction
WHERE tenant_id = %(tenant)s AND user_id = ANY(%(users)s)
"""
LOCK_ALONE = "SELECT pg_advisory_xact_lock(%s)"


class Erased(DomainError):
    """The person was erased since the work's cause came in: there is nothing to be written any more."""


@dataclass(frozen=True, slots=True)
class Standings:
    """When each of some users was last erased, those who ever were; and those who are restricted."""

    erased: dict[str, datetime]
    restricted: frozenset[str]


def subject_of(*, tenant_id: UUID, user_id: str) -> str:
    """The HMAC-SHA-256, in hex, that stands for a person in a tenant."""
    key = hashlib.sha256(b"strata subject" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, f"{tenant_id.hex}/{user_id}".encode(), hashlib.sha256).hexdigest()


def bury(*, tenant_id: UUID, user_id: str, requested_by: str, now: datetime) -> Tombstone:
    """Sets the tombstone in the open scope, after the last write that does not know of it has ended. With it,
    the links to the person's own pages become void.

    The person is erased as of that moment, or of `now` if that is later: a write that was waited for may have
    dated its rows since the request came in.
    """
    subject = subject_of(tenant_id=tenant_id, user_id=user_id)
    lock_person(tenant_id=tenant_id, user_id=user_id)
    void_links(tenant_id=tenant_id, subject=subject)
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


def lock_person(*, tenant_id: UUID, user_id: str) -> None:
    """Waits for the writes that have asked about the person, and keeps others waiting until the open scope
    ends."""
    with connection.cursor() as cursor:
        cursor.execute(LOCK_ALONE, [_lock_of(subject_of(tenant_id=tenant_id, user_id=user_id))])


def last_erasures(*, tenant_id: UUID, user_ids: Collection[str]) -> dict[str, datetime]:
    """When each of the users was last erased; those who never were are missing. None of them can be erased
    or restricted until the open scope ends. Raises Restricted when one of them is restricted."""
    standings = read_standings(tenant_id=tenant_id, user_ids=user_ids)
    if standings.restricted and not shows_restricted():
        raise Restricted("This person's memory is restricted.")
    return standings.erased


def read_standings(*, tenant_id: UUID, user_ids: Collection[str]) -> Standings:
    """Likewise, for whoever passes restricted people by."""
    subjects = {subject_of(tenant_id=tenant_id, user_id=user_id): user_id for user_id in user_ids}
    params: dict[str, Any] = {
        "tenant": tenant_id,
        "subjects": list(subjects),
        "locks": sorted(map(_lock_of, subjects)),
        "users": list(user_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(STANDINGS, params)
        cursor.nextset()
        found = cursor.fetchall()
    return Standings(
        erased={subjects[one]: erased_at for one, erased_at in found if erased_at is not None},
        restricted=frozenset(one for one, erased_at in found if erased_at is None),
    )


def refuse_erased(*, tenant_id: UUID, user_id: str, since: datetime) -> None:
    """Raises Erased when the user was erased since then, and Restricted; otherwise none can erase or restrict
    them until the open scope ends. A memory of nobody's is never refused."""
    if not user_id:
        return
    erased_at = last_erasures(tenant_id=tenant_id, user_ids=[user_id]).get(user_id)
    if erased_at is not None and erased_at >= since:
        raise Erased("This person's memory was erased meanwhile.")


def _lock_of(subject: str) -> int:
    """The advisory lock of a person: 63 bits, so that two people seldom share one."""
    return int(subject[:15], 16)
