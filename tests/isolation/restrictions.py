"""A row of the restrictions."""

import secrets
from uuid import UUID

from django.utils import timezone

from tenants.models import Restriction
from tests.isolation.registry import factory


@factory(Restriction)
def restriction(tenant_id: UUID) -> Restriction:
    user_id = secrets.token_hex(8)
    return Restriction(tenant_id=tenant_id, user_id=user_id, since=timezone.now(), requested_by="test")
