"""A row of the account of recalls."""

from uuid import UUID

from django.utils import timezone

from ledger.models import RecallHour
from tests.isolation.registry import factory


@factory(RecallHour)
def recall_hour(tenant_id: UUID) -> RecallHour:
    return RecallHour(tenant_id=tenant_id, hour=timezone.now(), buckets=[1, 2])
