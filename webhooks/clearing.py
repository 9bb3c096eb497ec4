"""Removing deliveries that have served their time, and those of webhooks that are gone."""

from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings

from tenants.router import admin_role
from tenants.scope import scope
from webhooks.models import Delivery

BATCH = 2_000  # rows in one transaction


def clear_deliveries(*, now: datetime) -> int:
    """Removes those that are `WEBHOOK_DELIVERY_DAYS` old in every tenant, whatever became of them, in short
    transactions; how many. A named cross-tenant job."""
    before = now - timedelta(days=settings.WEBHOOK_DELIVERY_DAYS)
    with admin_role():
        old = Delivery.objects.filter(created_at__lt=before).order_by()
        tenants = list(old.values_list("tenant_id", flat=True).distinct())
    return sum(_clear(tenant_id, before) for tenant_id in tenants)


def _clear(tenant_id: UUID, before: datetime) -> int:
    cleared = 0
    while True:
        with scope(tenant_id):
            old = Delivery.objects.filter(tenant_id=tenant_id, created_at__lt=before)
            ids = list(old.order_by("created_at").values_list("id", flat=True)[:BATCH])
            Delivery.objects.filter(tenant_id=tenant_id, id__in=ids).delete()
        cleared += len(ids)
        if len(ids) < BATCH:
            return cleared
