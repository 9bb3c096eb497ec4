"""Using an invitation: with an account that there is, or with a new one."""

from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from tenants import audit, members
from tenants.errors import Invalid, refuse
from tenants.invitations import Invited, find_invited
from tenants.models import Invitation, Member, Tenant
from tenants.router import admin_role

TAKEN = "Somebody has that name already: choose another, or sign in if it is yours."


def join(*, token: str, user: User, now: datetime) -> Member:
    """Makes the person a member, in the invitation's role, and uses it up. Audited. Raises Conflict for one
    who is a member already, who leaves it as it is; Unauthenticated for a link that does not work."""
    with admin_role(), transaction.atomic(using="admin"):
        return _used(find_invited(token=token, now=now, to_use=True), user, is_new=False)


def join_anew(*, token: str, name: str, password: str, now: datetime) -> Member:
    """Likewise with a new account. Raises Invalid for a name or a password that cannot be."""
    refuse(account_problems(name=name, password=password))
    user = User(username=User.normalize_username(name))
    user.set_password(password)  # takes long on purpose: outside of the transaction
    with admin_role(), transaction.atomic(using="admin"):
        invited = find_invited(token=token, now=now, to_use=True)
        try:
            with transaction.atomic(using="admin"):
                user.save(force_insert=True)
        except IntegrityError as error:
            raise Invalid(TAKEN, "name") from error
        return _used(invited, user, is_new=True)


def account_problems(*, name: str, password: str) -> list[Invalid]:
    """All that is wrong with a new account's name and password. Names differ by more than their case."""
    user = User(username=User.normalize_username(name))
    found: list[Invalid] = []
    try:
        User._meta.get_field("username").clean(user.username, user)
    except ValidationError as error:
        found += [Invalid(one, "name") for one in error.messages]
    else:
        with admin_role():
            if User.objects.filter(username__iexact=user.username).exists():
                found.append(Invalid(TAKEN, "name"))
    try:
        validate_password(password, user)
    except ValidationError as error:
        found += [Invalid(one, "password") for one in error.messages]
    return found


def _used(invited: Invited, user: User, *, is_new: bool) -> Member:
    """In the open transaction, in which the invitation is locked."""
    actor = f"member:{user.get_username()}"
    tenant = Tenant(id=invited.tenant_id, slug=invited.tenant)
    member = members.add_member(tenant=tenant, user=user, role=invited.role, actor=actor)
    audit.record(
        tenant_id=invited.tenant_id,
        actor=actor,
        action="invitation.accept",
        target=str(invited.id),
        role=invited.role,
        invited_by=invited.created_by,
        new_account=is_new,
    )
    Invitation.objects.filter(tenant_id=invited.tenant_id, id=invited.id).delete()
    return member
