"""How to fill a row of each table of webhooks."""

from uuid import UUID, uuid4

from django.utils import timezone

from tests.isolation.registry import factory
from webhooks.models import Delivery, Webhook

__all__ = ["delivery", "webhook"]


@factory(Webhook)
def webhook(tenant_id: UUID) -> Webhook:
    now = timezone.now()
    return Webhook(
        tenant_id=tenant_id,
        url="https://127.0.0.1/hook",
        events=["memory.created"],
        created_by="test",
        created_at=now,
        updated_at=now,
    )


@factory(Delivery)
def delivery(tenant_id: UUID) -> Delivery:
    now = timezone.now()
    return Delivery(
        tenant_id=tenant_id,
        webhook_id=uuid4(),
        event_id=uuid4(),
        event="memory.created",
        data={"kind": "episode"},
        due_at=now,
        created_at=now,
    )
