"""Deliveries as they are listed, and put back."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, NotFound
from tenants.scope import scope
from webhooks.announcing import ask_to_deliver
from webhooks.models import Delivery, DeliveryState, Webhook
from webhooks.webhooks import access_webhook, refuse_bound

ABSENT = "There is no such delivery."


def list_deliveries(
    *,
    caller: Caller,
    limit: int,
    webhook_id: UUID | None = None,
    state: str | None = None,
    before: UUID | None = None,
) -> list[Delivery]:
    """Deliveries of one webhook or of all, newest first; `before`: continue after that one. Raises NotFound
    for a webhook that there is not."""
    refuse_bound(caller)
    condition = Q(tenant_id=caller.tenant_id)
    if webhook_id is not None:
        condition &= Q(webhook_id=access_webhook(caller=caller, webhook_id=webhook_id).id)
    if state:
        condition &= Q(state=state)
    if before is not None:
        condition &= Q(id__lt=before)
    with scope(caller.tenant_id):
        return list(Delivery.objects.filter(condition).order_by("-id")[:limit])


def access_delivery(*, caller: Caller, delivery_id: UUID) -> Delivery:
    """The delivery. Raises NotFound."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        found = Delivery.objects.filter(tenant_id=caller.tenant_id, id=delivery_id).first()
    if found is None:
        raise NotFound(ABSENT)
    return found


def replay_delivery(*, caller: Caller, delivery_id: UUID, now: datetime) -> Delivery:
    """Has it sent again, with all its attempts and under the same event id. Raises NotFound; Conflict for one
    that waits anyway, or whose webhook is gone or switched off."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        mine = Delivery.objects.select_for_update().filter(tenant_id=caller.tenant_id, id=delivery_id)
        delivery = mine.first()
        if delivery is None:
            raise NotFound(ABSENT)
        if delivery.state == DeliveryState.PENDING:
            raise Conflict("This delivery waits to be sent.")
        active = Webhook.objects.filter(tenant_id=caller.tenant_id, id=delivery.webhook_id, is_active=True)
        if not active.exists():
            raise Conflict("This delivery's webhook is switched off.")
        delivery.state, delivery.attempts, delivery.due_at = DeliveryState.PENDING, 0, now
        delivery.delivered_at = None
        delivery.save(update_fields=["state", "attempts", "due_at", "delivered_at"])
        audit.record(
            tenant_id=caller.tenant_id,
            actor=caller.principal,
            action="webhook.replay",
            target=str(delivery.webhook_id),
            delivery=str(delivery.id),
        )
        ask_to_deliver(caller.tenant_id, [delivery.webhook_id])
        idempotency.keep(delivery, user_id=delivery.user_id)
    return delivery
