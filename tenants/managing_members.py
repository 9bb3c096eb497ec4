"""Members as a tenant's own admins see to them. A tenant always keeps an admin: the last one is neither
removed nor given a lesser role here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from tenants import members
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.models import Member, Role, Tenant
from tenants.router import admin_role

MOST_SHOWN = 500


@dataclass(frozen=True, slots=True)
class MemberShown:
    """A member by name; `is_active`: the account may sign in at all."""

    id: UUID
    name: str
    role: str
    since: datetime
    is_active: bool


def list_members(*, caller: Caller) -> list[MemberShown]:
    """The tenant's members by name; the first five hundred. Raises Forbidden for whoever is no admin."""
    with admin_role():
        found = list(_members(caller).select_related("user").order_by("user__username")[:MOST_SHOWN])
    return [_shown(one) for one in found]


def access_member_of(*, caller: Caller, member_id: UUID) -> MemberShown:
    """One of them. Raises NotFound, Forbidden."""
    with admin_role():
        return _shown(_found(_members(caller).select_related("user"), member_id))


def add_member(*, caller: Caller, name: str, role: str) -> Member:
    """Makes a person of Django's user table a member. Raises Invalid for a name that nobody has or a role
    that is none, Conflict for a member."""
    _check(caller)
    with admin_role():
        user = User.objects.filter(username=name).first()
        if user is None:
            raise Invalid("Nobody has an account of that name: invite them, and they make one.", "name")
        tenant = Tenant(id=caller.tenant_id, slug=caller.tenant)
        return members.add_member(tenant=tenant, user=user, role=role, actor=caller.principal)


def change_role(*, caller: Caller, member_id: UUID, role: str) -> Member:
    """Gives a member another role, at once. Raises Conflict for the last admin, Invalid, NotFound."""
    with _locked(caller) as rows:
        member = _found(rows, member_id)
        if role != Role.ADMIN:
            _keep_an_admin(rows, member)
        return members.change_role(member=member, role=role, actor=caller.principal)


def remove_member(*, caller: Caller, member_id: UUID) -> None:
    """Ends a membership, at once. Raises Conflict for the last admin, NotFound."""
    with _locked(caller) as rows:
        member = _found(rows, member_id)
        _keep_an_admin(rows, member)
        members.remove_member(member=member, actor=caller.principal)


@contextmanager
def _locked(caller: Caller) -> Iterator[Any]:
    """The tenant's members, its admins locked: two who remove each other must not both succeed."""
    with admin_role(), transaction.atomic(using="admin"):
        rows = _members(caller)
        list(rows.filter(role=Role.ADMIN).select_for_update().order_by("id"))
        yield rows


def _keep_an_admin(rows: Any, member: Member) -> None:
    others = rows.filter(role=Role.ADMIN, user__is_active=True).exclude(id=member.id)
    if member.role == Role.ADMIN and not others.exists():
        raise Conflict("A tenant needs an admin: make somebody else one first.")


def _found(rows: Any, member_id: UUID) -> Member:
    member: Member | None = rows.filter(id=member_id).first()
    if member is None:
        raise NotFound("There is no such member.")
    return member


def _members(caller: Caller) -> Any:
    _check(caller)
    return Member.objects.filter(tenant_id=caller.tenant_id)


def _check(caller: Caller) -> None:
    if not caller.may("admin") or caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("Only an admin of the whole tenant may see to its members.")


def _shown(one: Member) -> MemberShown:
    return MemberShown(one.id, one.user.get_username(), one.role, one.created_at, one.user.is_active)
