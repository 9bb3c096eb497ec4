"""A row of the revocations of links."""

import secrets
from uuid import UUID

from django.utils import timezone

from tenants.models import LinkRevocation
from tests.isolation.registry import factory


@factory(LinkRevocation)
def link_revocation(tenant_id: UUID) -> LinkRevocation:
    return LinkRevocation(tenant_id=tenant_id, subject=secrets.token_hex(32), void_until=timezone.now())
