"""Invitations: links by which an admin has somebody become a member of the tenant.

A link is signed, works once, until it expires or is revoked, and only while the admin who made it is one.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core import signing
from django.db import transaction
from uuid_utils.compat import uuid7

from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, Unauthenticated
from tenants.models import Invitation, Member, Role
from tenants.router import admin_role
from tenants.tenancy import find_tenant

SALT = "tenants.invitation"
LONGEST = 30  # days
MOST = 200  # of a tenant that wait
LONGEST_NOTE = 200
MADE_BY = "member:"
REFUSAL = "This invitation is not valid, or no longer. Ask whoever sent it for a new one."


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation that its holder has opened."""

    id: UUID
    tenant_id: UUID
    tenant: str
    role: str
    created_by: str
    expires_at: datetime


def invite(*, caller: Caller, role: str, note: str = "", days: int, now: datetime) -> tuple[Invitation, str]:
    """A new invitation, and the path of its link below the server's own address, which nothing can show
    again. Audited. Raises Invalid for a role that is none, Conflict when too many wait, Forbidden."""
    _check(caller)
    if role not in Role.values:
        raise Invalid(f"Roles are {', '.join(Role.values)}; not {role}.", "role")
    if not 1 <= days <= LONGEST:
        raise Invalid(f"Must be between 1 and {LONGEST}.", "days")
    if len(note) > LONGEST_NOTE:
        raise Invalid(f"May have {LONGEST_NOTE} characters.", "note")
    secret = secrets.token_urlsafe(32)
    made = Invitation(
        id=uuid7(),
        tenant_id=caller.tenant_id,
        role=role,
        note=note,
        secret_hash=_hash(secret),
        created_by=caller.principal,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    with admin_role(), transaction.atomic(using="admin"):
        theirs = _of(caller)
        theirs.filter(expires_at__lte=now).delete()
        if theirs.count() >= MOST:
            raise Conflict(f"{MOST} invitations wait already: revoke some first.")
        made.save(force_insert=True)
        _record(made, caller.principal, "invitation.create", expires_at=made.expires_at.isoformat())
    return made, f"/invitation/{signing.dumps([made.tenant_id.hex, made.id.hex, secret], salt=SALT)}"


def list_invitations(*, caller: Caller, now: datetime) -> list[Invitation]:
    """Those that wait to be used, newest first. Raises Forbidden for whoever may not invite."""
    _check(caller)
    with admin_role():
        return list(_of(caller).filter(expires_at__gt=now).order_by("-id")[:MOST])


def access_invitation(*, caller: Caller, invitation_id: UUID) -> Invitation:
    """One of the tenant's. Raises NotFound, Forbidden."""
    _check(caller)
    with admin_role():
        found: Invitation | None = _of(caller).filter(id=invitation_id).first()
    if found is None:
        raise NotFound("There is no such invitation, or it was used.")
    return found


def revoke_invitation(*, caller: Caller, invitation_id: UUID) -> None:
    """Ends one that was not used. Audited. Raises NotFound, Forbidden."""
    _check(caller)
    with admin_role(), transaction.atomic(using="admin"):
        found = _of(caller).select_for_update().filter(id=invitation_id).first()
        if found is None:
            raise NotFound("There is no such invitation, or it was used.")
        _record(found, caller.principal, "invitation.revoke")
        found.delete()


def open_invitation(*, token: str, now: datetime) -> Invited:
    """What a link invites to. Raises Unauthenticated; why exactly, its holder is not told."""
    with admin_role():
        return find_invited(token=token, now=now)


def find_invited(*, token: str, now: datetime, to_use: bool = False) -> Invited:
    """Likewise, in the open transaction of the admin role; `to_use` keeps others from using it meanwhile."""
    try:
        tenant, name, secret = signing.loads(token, salt=SALT)
    except signing.BadSignature:
        raise Unauthenticated(REFUSAL) from None
    rows = Invitation.objects.select_for_update() if to_use else Invitation.objects.all()
    found = rows.filter(tenant_id=UUID(tenant), id=UUID(name), expires_at__gt=now).first()
    enabled = find_tenant(str(UUID(tenant)))
    if found is None or enabled is None or not hmac.compare_digest(found.secret_hash, _hash(secret)):
        raise Unauthenticated(REFUSAL)
    if not _is_admin(found):
        raise Unauthenticated(REFUSAL)
    return Invited(found.id, enabled.id, enabled.slug, found.role, found.created_by, found.expires_at)


def _is_admin(found: Invitation) -> bool:
    """Whether the maker is one still: who was shut out gets nobody in."""
    makers = User.objects.filter(username=found.created_by.removeprefix(MADE_BY), is_active=True)
    theirs = Member.objects.filter(tenant_id=found.tenant_id, role=Role.ADMIN)
    return theirs.filter(user_id__in=makers.values("id")).exists()


def _record(one: Invitation, actor: str, action: str, **details: str) -> None:
    audit.record(
        tenant_id=one.tenant_id, actor=actor, action=action, target=str(one.id), role=one.role, **details
    )


def _of(caller: Caller) -> Any:
    return Invitation.objects.filter(tenant_id=caller.tenant_id)


def _check(caller: Caller) -> None:
    bindings = (caller.user_id, caller.agent_id, caller.project)
    if caller.kind != "member" or not caller.may("admin") or any(bindings):
        raise Forbidden("Only a member who is an admin may see to invitations.")


def _hash(secret: str) -> str:
    """SHA-256 suffices: the secret has 256 random bits, so there is nothing to guess slowly."""
    return hashlib.sha256(secret.encode()).hexdigest()
