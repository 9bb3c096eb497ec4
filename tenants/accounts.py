"""What is done to accounts of people, as the audit logs tell it. An account belongs to no tenant: the tenants
that it reaches are told, and no other, since names of accounts are nobody else's business."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q, QuerySet

from tenants import audit
from tenants.models import Tenant
from tenants.router import admin_role

FLAGS = ("is_active", "is_staff", "is_superuser")


def tell_account(
    *, user: User, actor: str, action: str, fields: Sequence[str] = (), former: User | None = None
) -> None:
    """Adds an entry in every tenant whose member the account is, and in all of them when it may enter the
    admin, or might as `former`, before the change. Call it in the transaction of the deed, and before a
    deletion, which takes the memberships along."""
    details: dict[str, object] = {"fields": list(fields)} if fields else {}
    details |= {name: getattr(user, name) for name in FLAGS if name in fields}
    if former is not None and former.username != user.username:
        details["former"] = former.username
    is_operator = user.is_staff or (former is not None and former.is_staff)
    with admin_role():
        reached = Q() if is_operator else Q(member__user_id=user.id)
        _tell(Tenant.objects.filter(reached), actor, action, user.username, **details)


def tell_group(*, group: Group, actor: str, action: str, fields: Sequence[str] = ()) -> None:
    """Adds an entry in every tenant: a group says what operators may do in all of them."""
    with admin_role():
        _tell(Tenant.objects.all(), actor, action, group.name, **({"fields": list(fields)} if fields else {}))


@contextmanager
def telling_password(*, user_id: int, actor: str) -> Iterator[None]:
    """When the block gives the account another password, or none, that is told in the same transaction."""
    with admin_role(), transaction.atomic(using="admin"):
        before = User.objects.filter(id=user_id).first()
        yield
        after = User.objects.filter(id=user_id).first()
        if before and after and before.password != after.password:
            tell_account(user=after, actor=actor, action="account.password")


def _tell(tenants: QuerySet[Tenant], actor: str, action: str, target: str, **details: object) -> None:
    for tenant_id in tenants.values_list("id", flat=True):
        audit.record(tenant_id=tenant_id, actor=actor, action=action, target=target, **details)
