"""The audit log: who did what. Rows hold no memory content, can only be added, and call people in the memory
by a keyed hash: the log outlives them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from tenants.caller import Caller
from tenants.models import AuditEntry
from tenants.scope import scope
from tenants.subjects import confine, pseudonym, unnamed

# Deeds that were once entered with a person's hash alone as their target.
ONCE_BARE = ("subject.restrict", "subject.lift_restriction", "memory.rectify", "memory.forget")


def record(*, tenant_id: UUID, actor: str, action: str, target: str = "", **details: Any) -> AuditEntry:
    """Adds an entry in the caller's transaction, so that it exists exactly when the deed does. An actor who
    is a person in the memory is entered by the pseudonym; whoever names one in the rest does the same."""
    return AuditEntry.objects.create(
        tenant_id=tenant_id,
        actor=unnamed(tenant_id=tenant_id, principal=actor),
        action=action,
        target=target,
        details=details,
    )


def record_each(*, tenant_id: UUID, actor: str, action: str, targets: Iterable[str], **details: Any) -> None:
    """Likewise an entry for each of the targets, in one statement."""
    name = unnamed(tenant_id=tenant_id, principal=actor)
    AuditEntry.objects.bulk_create(
        AuditEntry(tenant_id=tenant_id, actor=name, action=action, target=one, details=details)
        for one in targets
    )


def list_entries(
    *,
    caller: Caller,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
    action: str | None = None,
    actor: str | None = None,
    subject: str | None = None,
) -> list[AuditEntry]:
    """The tenant's entries, newest first; `before`: continue after that one. `subject` is the user id of a
    person: what was done to them, to what is theirs or was before, or by them. A key that is bound to a user
    sees that user's; raises Forbidden for one that is bound to another, or to a part of the memory."""
    user_id = confine(caller, subject)
    condition = Q(tenant_id=caller.tenant_id)
    if user_id:
        name = pseudonym(tenant_id=caller.tenant_id, user_id=user_id)
        # Where a session or a memory is the target, the details say whose it is and was.
        theirs = Q(details__subject=name) | Q(details__former_subject=name)
        theirs |= Q(target=name.removeprefix("subject:"), action__in=ONCE_BARE)
        condition &= Q(target=name) | Q(actor=name) | theirs
    if action:
        condition &= Q(action=action)
    if actor:
        condition &= Q(actor=unnamed(tenant_id=caller.tenant_id, principal=actor))
    if before is not None:
        condition &= Q(at__lt=before[0]) | Q(at=before[0], id__lt=before[1])
    with scope(caller.tenant_id):
        return list(AuditEntry.objects.filter(condition).order_by("-at", "-id")[:limit])
