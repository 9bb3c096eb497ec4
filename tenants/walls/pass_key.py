"""A key for the time of the isolation self-test: what comes in by HTTP must be let in like anybody."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from tenants.api_keys import create_api_key, revoke_api_key
from tenants.models import ApiKey, Tenant
from tenants.router import admin_role
from tenants.walls.stage import LIFE_SECONDS

NAME = "isolation self-test"
ACTOR = "system:isolation"


@contextmanager
def pass_key(*, tenant_id: UUID, now: datetime) -> Iterator[str]:
    """The full text of a key that may read, and that ends with the block. One that an attempt before this
    has left, which has expired, goes first. That it was made and ended is in the audit log; the key does not
    stay in the list of keys. Runs as the admin role."""
    with admin_role():
        ApiKey.objects.filter(tenant_id=tenant_id, name=NAME, expires_at__lt=now).delete()
        tenant = Tenant.objects.get(id=tenant_id)
    expires_at = timezone.now() + timedelta(seconds=LIFE_SECONDS)
    key, text = create_api_key(tenant=tenant, actor=ACTOR, scopes=("read",), name=NAME, expires_at=expires_at)
    try:
        yield text
    finally:
        with admin_role(), transaction.atomic(using="admin"):
            revoke_api_key(key=key, actor=ACTOR, now=timezone.now())
            ApiKey.objects.filter(id=key.id, tenant_id=tenant_id).delete()
