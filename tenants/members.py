"""Members: people of Django's user table, and what each may do in a tenant."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import IntegrityError, connection, transaction

from tenants import audit
from tenants.caller import Caller, Scope
from tenants.errors import Conflict, Invalid, NotFound
from tenants.models import Member, Role, Tenant
from tenants.router import admin_role
from tenants.scope import unscoped
from tenants.tenancy import SLUG

# A privacy officer reads, exports and erases, and writes no memories; `admin` carries every scope.
SCOPES_OF: Mapping[str, frozenset[Scope]] = {
    Role.VIEWER: frozenset({"read"}),
    Role.EDITOR: frozenset({"read", "write", "ingest"}),
    Role.PRIVACY_OFFICER: frozenset({"read", "privacy"}),
    Role.ADMIN: frozenset({"admin"}),
}


@dataclass(frozen=True, slots=True)
class Membership:
    """A tenant that a person may enter, and as what."""

    tenant_id: UUID
    tenant: str
    role: str


def add_member(*, tenant: Tenant, user: User, role: str, actor: str) -> Member:
    """Makes the user a member. Raises Conflict for one who is, Invalid for a role that is none.
    Runs as the admin role."""
    member = Member(tenant_id=tenant.id, user=user, role=_known(role))
    with admin_role(), transaction.atomic(using="admin"):
        try:
            member.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict(f"{user.get_username()} is a member of {tenant.slug} already.") from error
        _record(member, actor, "member.add", role=member.role)
    return member


def change_role(*, member: Member, role: str, actor: str) -> Member:
    """Gives a member another role, at once. Raises Invalid for a role that is none, NotFound for a member
    who was removed meanwhile. Runs as the admin role."""
    with admin_role(), transaction.atomic(using="admin"):
        stored = Member.objects.select_for_update().filter(id=member.id).first()
        if stored is None:
            raise NotFound("There is no such member.")
        former, stored.role = stored.role, _known(role)
        stored.save(update_fields=["role"])
        _record(stored, actor, "member.change_role", role=stored.role, former=former)
    return stored


def remove_member(*, member: Member, actor: str) -> None:
    """Ends a membership, at once; one that has ended already stays so. Runs as the admin role."""
    with admin_role(), transaction.atomic(using="admin"):
        removed, _ = Member.objects.filter(tenant_id=member.tenant_id, id=member.id).delete()
        if removed:
            _record(member, actor, "member.remove", role=member.role)


def access_member(*, user: AbstractBaseUser | AnonymousUser, tenant: str) -> Caller:
    """The caller that a signed-in person is in the tenant of that slug.

    Raises NotFound for whoever is no member, so that strangers do not learn which tenants exist. Asks
    PostgreSQL each time: whoever was removed is out with the next request.
    """
    user_id = _id_of(user)
    row = None
    if user_id is not None and SLUG.fullmatch(tenant):
        with unscoped(), connection.cursor() as cursor:
            cursor.execute("SELECT tenant_id, slug, role FROM tenants_find_member(%s, %s)", [user_id, tenant])
            row = cursor.fetchone()
    if row is None:
        raise NotFound("There is no such tenant.")
    tenant_id, slug, role = row
    return Caller(
        tenant_id=UUID(str(tenant_id)),
        tenant=slug,
        key_id=user.get_username(),
        scopes=frozenset(SCOPES_OF[role]),
        kind="member",
    )


def list_memberships(*, user: AbstractBaseUser | AnonymousUser) -> list[Membership]:
    """The enabled tenants that the person is a member of, by slug; the first thousand."""
    user_id = _id_of(user)
    if user_id is None:
        return []
    with unscoped(), connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id, slug, role FROM tenants_list_memberships(%s)", [user_id])
        return [Membership(UUID(str(tenant_id)), slug, role) for tenant_id, slug, role in cursor.fetchall()]


def _id_of(user: AbstractBaseUser | AnonymousUser) -> int | None:
    """The id of a person who is signed in and whom nobody has locked out."""
    return user.pk if user.is_authenticated and user.is_active else None


def _known(role: str) -> str:
    if role not in SCOPES_OF:
        raise Invalid(f"Roles are {', '.join(SCOPES_OF)}; not {role}.", "role")
    return Role(role).value


def _record(member: Member, actor: str, action: str, **details: str) -> None:
    """Also after the user is gone, of whom only the number is left then."""
    user = User.objects.filter(id=member.user_id).first()
    target = user.get_username() if user else str(member.user_id)
    audit.record(tenant_id=member.tenant_id, actor=actor, action=action, target=target, **details)
