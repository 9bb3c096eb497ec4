"""Sending what is due to a webhook: at least once, in no promised order.

Each attempt is claimed in one commit, made outside any, and recorded in another. A worker that dies in
between leaves the delivery to be sent again once its claim is over, under the same event id.
"""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, Func, IntegerField, OuterRef, Q, Subquery
from django.utils import timezone

from tenants import audit
from tenants.jobs.kinds import Kind, Task
from tenants.jobs.queue import enqueue
from tenants.models import Restriction
from tenants.router import admin_role
from tenants.scope import scope
from tenants.system import SYSTEM
from webhooks import announcing
from webhooks.metrics import DELIVERIES, DISABLED
from webhooks.models import Delivery, DeliveryState, Webhook
from webhooks.querysets import next_due, ready
from webhooks.sending import Outcome, send
from webhooks.signing import signatures

# Seconds from one failed attempt of a delivery to its next; after the last it has failed.
WAITS = (5, 30, 120, 600, 3_600, 21_600, 86_400)
ATTEMPTS = len(WAITS) + 1
# Seconds in which a webhook that failed so often in a row is sent nothing: one that hangs must not hold the
# workers once for each of its deliveries.
PAUSES = (0, 5, 30, 120, 600)
CLAIM_SECONDS = 60.0  # more than an attempt takes
STRETCH = 20.0  # seconds that a job sends before it lets others have the thread
GONE = 410


def deliver_due(*, tenant_id: UUID, webhook_id: UUID) -> bool:
    """Sends what is due until nothing is, one fails, or the stretch is over; whether more may be due."""
    until = time.monotonic() + STRETCH
    while time.monotonic() < until:
        claimed = _claim(tenant_id, webhook_id, timezone.now())
        if claimed is None:
            return False
        webhook, delivery = claimed
        outcome = _send(webhook, delivery, timezone.now())
        _record(webhook, delivery, outcome, timezone.now())
    return True


def sweep(*, now: datetime) -> int:
    """Records a job for each webhook that has something due; how many. A named cross-tenant job."""
    due = Delivery.objects.filter(
        tenant_id=OuterRef("tenant_id"),
        webhook_id=OuterRef("id"),
        state=DeliveryState.PENDING,
        due_at__lte=now,
    )
    # What is about restricted people waits, unseen by the app role.
    place = Func(OuterRef("names"), F("user_id"), function="array_position", output_field=IntegerField())
    meant = Q(user_id=OuterRef("user_id")) | Q(place__isnull=False)
    frozen = Restriction.objects.annotate(place=place).filter(meant, tenant_id=OuterRef("tenant_id"))
    due = due.exclude(Exists(frozen))
    with admin_role():
        waiting = Webhook.objects.filter(ready(now)).annotate(due=Subquery(due.values("id")[:1]))
        found = list(waiting.exclude(due=None).values_list("tenant_id", "id"))
    for tenant_id, webhook_id in found:
        with scope(tenant_id):
            _enqueue(webhook_id)
    return len(found)


def deliver_kind() -> Kind:
    """The job that sends one webhook what is due."""

    def prepare(task: Task) -> bool:
        return deliver_due(tenant_id=task.tenant_id, webhook_id=UUID(task.payload["webhook"]))

    def apply(task: Task, more: bool) -> None:
        if more:
            _enqueue(UUID(task.payload["webhook"]))

    return Kind(announcing.DELIVER, apply, prepare=prepare, slow=True)


def _enqueue(webhook_id: UUID) -> None:
    payload = {"webhook": str(webhook_id)}
    enqueue(announcing.DELIVER, payload=payload, dedup_key=webhook_id.hex, now=timezone.now())


def _claim(tenant_id: UUID, webhook_id: UUID, now: datetime) -> tuple[Webhook, Delivery] | None:
    """The next delivery, ours until `due_at`."""
    with scope(tenant_id):
        found = next_due(tenant_id=tenant_id, webhook_id=webhook_id, now=now)
        if found is not None:
            delivery = found[1]
            delivery.attempts += 1
            delivery.due_at = now + timedelta(seconds=CLAIM_SECONDS)
            delivery.save(update_fields=["attempts", "due_at"])
    return found


def _send(webhook: Webhook, delivery: Delivery, now: datetime) -> Outcome:
    message_id, timestamp = f"evt_{delivery.event_id.hex}", int(now.timestamp())
    body = json.dumps(_message(delivery), ensure_ascii=False, separators=(",", ":")).encode()
    signature = signatures(
        body,
        message_id=message_id,
        timestamp=timestamp,
        tenant_id=webhook.tenant_id,
        webhook_id=webhook.id,
        version=webhook.secret_version,
        rotated_at=webhook.rotated_at,
        now=now,
    )
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Strata-Webhooks",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
    }
    return send(webhook.url, body=body, headers=headers)


def _message(delivery: Delivery) -> dict[str, Any]:
    moment = delivery.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"type": delivery.event, "timestamp": moment, "data": delivery.data}


def _record(webhook: Webhook, delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    is_final = outcome.is_delivered or outcome.status == GONE or delivery.attempts >= ATTEMPTS
    delivery.last_status, delivery.last_error = outcome.status, outcome.error[:200]
    delivery.latency_ms = round(outcome.seconds * 1_000)
    delivery.due_at = now
    if outcome.is_delivered:
        delivery.state, delivery.delivered_at = DeliveryState.DELIVERED, now
    elif is_final:
        delivery.state = DeliveryState.FAILED
    else:
        delivery.due_at = now + timedelta(seconds=WAITS[delivery.attempts - 1])
    fields = ["state", "last_status", "last_error", "latency_ms", "due_at", "delivered_at"]
    with scope(webhook.tenant_id):
        # Not by `save`: the person or the webhook may be gone meanwhile.
        mine = Delivery.objects.filter(tenant_id=webhook.tenant_id, id=delivery.id)
        mine.filter(attempts=delivery.attempts).update(**{name: getattr(delivery, name) for name in fields})
        _note(webhook.tenant_id, webhook.id, outcome, now)
    DELIVERIES.labels("delivered" if outcome.is_delivered else "failed" if is_final else "retried").inc()


def _note(tenant_id: UUID, webhook_id: UUID, outcome: Outcome, now: datetime) -> None:
    """How the webhook does, in the open scope: paused or switched off when it keeps failing."""
    mine = Webhook.objects.filter(tenant_id=tenant_id, id=webhook_id)
    if outcome.is_delivered:
        mine.exclude(failures=0).update(failures=0, resume_at=None)
        return
    webhook = mine.select_for_update().first()
    if webhook is None or not webhook.is_active:
        return
    webhook.failures += 1
    webhook.resume_at = now + timedelta(seconds=PAUSES[min(webhook.failures, len(PAUSES)) - 1])
    webhook.save(update_fields=["failures", "resume_at"])
    if outcome.status == GONE:
        _disable(webhook, "the receiver answered 410 Gone", now)
    elif webhook.failures >= settings.WEBHOOK_DISABLE_AFTER:
        _disable(webhook, f"{webhook.failures} attempts in a row failed, the last: {outcome.error}", now)


def _disable(webhook: Webhook, reason: str, now: datetime) -> None:
    webhook.is_active, webhook.disabled_at, webhook.disabled_reason = False, now, reason[:200]
    webhook.save(update_fields=["is_active", "disabled_at", "disabled_reason"])
    audit.record(
        tenant_id=webhook.tenant_id,
        actor=SYSTEM,
        action="webhook.disable",
        target=str(webhook.id),
        reason=webhook.disabled_reason,
    )
    announcing.forget(webhook.tenant_id)
    DISABLED.inc()
