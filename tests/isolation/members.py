"""A row of the members, and of those who are invited."""

import secrets
from datetime import timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from tenants.models import Invitation, Member, Role
from tests.isolation.registry import factory, store


@factory(Member)
def member(tenant_id: UUID) -> Member:
    return Member(tenant_id=tenant_id, user=store(User(username=secrets.token_hex(8))), role="viewer")


@factory(Invitation)
def invitation(tenant_id: UUID) -> Invitation:
    now = timezone.now()
    return Invitation(
        tenant_id=tenant_id, role=Role.VIEWER, secret_hash=secrets.token_hex(32), created_by="member:test",
        created_at=now, expires_at=now + timedelta(days=1),
    )  # fmt: skip
