"""The SQL of deliveries."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Q

from webhooks.models import Delivery, DeliveryState, Webhook

FORGET_TEXT = """
UPDATE webhooks_delivery SET data = data - 'text', has_text = false
WHERE tenant_id = %(tenant)s AND has_text AND memory_id = ANY(%(ids)s) AND kind = %(kind)s
"""


def forget_text(*, tenant_id: UUID, kind: str, memory_ids: Sequence[str]) -> None:
    """Drops what deliveries tell of the text of memories that are gone, in the open scope."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET_TEXT, {"tenant": tenant_id, "kind": kind, "ids": list(memory_ids)})


def ready(now: datetime) -> Q:
    """Of webhooks: those that something may be sent to."""
    return Q(is_active=True) & (Q(resume_at=None) | Q(resume_at__lte=now))


def next_due(*, tenant_id: UUID, webhook_id: UUID, now: datetime) -> tuple[Webhook, Delivery] | None:
    """The webhook and its delivery that has been due for longest, locked, in the open scope."""
    webhook = Webhook.objects.filter(ready(now), tenant_id=tenant_id, id=webhook_id).first()
    if webhook is None:
        return None
    due = Delivery.objects.select_for_update(skip_locked=True).filter(
        tenant_id=tenant_id, webhook_id=webhook_id, state=DeliveryState.PENDING, due_at__lte=now
    )
    delivery = due.order_by("due_at").first()
    return None if delivery is None else (webhook, delivery)
