"""Webhooks of a tenant: made, changed, listed, deleted, and their secrets shown. Whoever does is in the
audit log.

They are told of every memory of the tenant, so no key that is bound to a part of it reaches them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_type_hints
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound
from tenants.scope import scope
from webhooks import announcing
from webhooks.addresses import Refused, parse, resolve
from webhooks.models import Delivery, Event, Kind, Webhook
from webhooks.signing import secret_of
from webhooks.types import Changes

MOST = 100  # of a tenant
ABSENT = "There is no such webhook."
EVENTS = [event for event in Event.values if event != Event.TEST]
CHOICES = {"events": EVENTS, "kinds": Kind.values}


@dataclass(frozen=True, slots=True)
class DeletedWebhook:
    """Which one is gone."""

    id: UUID


@dataclass(frozen=True, slots=True)
class ShownSecret:
    """What a webhook's messages are signed with."""

    webhook: Webhook
    secret: str


def create_webhook(*, caller: Caller, new: Changes, now: datetime) -> Webhook:
    """Has `url` told from now on of `events`, or of all. Looks up the host, so never in a scope. Raises
    Invalid, for a URL that leads where it may not naming why; Conflict when the tenant has `MOST`; Forbidden
    for a bound key."""
    refuse_bound(caller)
    if not new.get("url"):
        raise Invalid("Is required.", "url")
    given = _checked({"events": EVENTS, **new})
    with scope(caller.tenant_id):
        if Webhook.objects.filter(tenant_id=caller.tenant_id).count() >= MOST:
            raise Conflict(f"A tenant has {MOST} webhooks at most.")
        webhook = Webhook(
            tenant_id=caller.tenant_id, created_by=caller.principal, created_at=now, updated_at=now, **given
        )
        webhook.save(force_insert=True)
        _record(caller, "webhook.create", webhook, events=webhook.events)
        idempotency.keep(webhook, user_id="")
    return webhook


def change_webhook(*, caller: Caller, webhook_id: UUID, changes: Changes, now: datetime) -> Webhook:
    """Changes what is given. One that was switched off, by whomever, starts anew with `is_active`, and with
    what still waits for it. Raises NotFound, and what `create_webhook` raises."""
    refuse_bound(caller)
    given = _checked(changes)
    with scope(caller.tenant_id):
        webhook = _locked(caller, webhook_id)
        fields = {name: value for name, value in given.items() if value != getattr(webhook, name)}
        if fields.get("is_active"):
            fields |= {"failures": 0, "resume_at": None, "disabled_at": None, "disabled_reason": ""}
            announcing.ask_to_deliver(caller.tenant_id, [webhook_id])
        elif "is_active" in fields:
            fields |= {"disabled_at": now, "disabled_reason": "switched off"}
        if fields:
            for name, value in fields.items():
                setattr(webhook, name, value)
            webhook.updated_at = now
            webhook.save(update_fields=[*fields, "updated_at"])
            _record(caller, "webhook.change", webhook, fields=sorted(fields.keys() & given.keys()))
        idempotency.keep(webhook, user_id="")
    return webhook


def delete_webhook(*, caller: Caller, webhook_id: UUID) -> DeletedWebhook:
    """Deletes it with its deliveries. Raises NotFound."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        webhook = _locked(caller, webhook_id)
        Delivery.objects.filter(tenant_id=caller.tenant_id, webhook_id=webhook_id).delete()
        Webhook.objects.filter(tenant_id=caller.tenant_id, id=webhook_id).delete()
        _record(caller, "webhook.delete", webhook)
        deleted = DeletedWebhook(webhook_id)
        idempotency.keep(deleted, user_id="")
    return deleted


def list_webhooks(
    *, caller: Caller, limit: int, before: tuple[datetime, UUID] | None = None
) -> list[Webhook]:
    """The tenant's webhooks, newest first; `before`: continue after that one."""
    refuse_bound(caller)
    condition = Q(tenant_id=caller.tenant_id)
    if before is not None:
        condition &= Q(created_at__lt=before[0]) | Q(created_at=before[0], id__lt=before[1])
    with scope(caller.tenant_id):
        return list(Webhook.objects.filter(condition).order_by("-created_at", "-id")[:limit])


def access_webhook(*, caller: Caller, webhook_id: UUID) -> Webhook:
    """The webhook. Raises NotFound."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        found = Webhook.objects.filter(tenant_id=caller.tenant_id, id=webhook_id).first()
    if found is None:
        raise NotFound(ABSENT)
    return found


def show_secret(*, caller: Caller, webhook_id: UUID) -> ShownSecret:
    """The webhook's present secret; the audit log tells who has seen it. Raises NotFound."""
    webhook = access_webhook(caller=caller, webhook_id=webhook_id)
    with scope(caller.tenant_id):
        _record(caller, "webhook.secret", webhook, version=webhook.secret_version)
    text = secret_of(tenant_id=webhook.tenant_id, webhook_id=webhook.id, version=webhook.secret_version)
    return ShownSecret(webhook, text)


def rotate_secret(*, caller: Caller, webhook_id: UUID, now: datetime) -> Webhook:
    """Gives it another secret; the former signs along for a day. Raises NotFound."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        webhook = _locked(caller, webhook_id)
        webhook.secret_version += 1
        webhook.rotated_at = webhook.updated_at = now
        webhook.save(update_fields=["secret_version", "rotated_at", "updated_at"])
        _record(caller, "webhook.rotate", webhook, version=webhook.secret_version)
        idempotency.keep(webhook, user_id="")
    return webhook


def send_test(*, caller: Caller, webhook_id: UUID) -> Delivery:
    """Has it told something that means nothing, whatever events it asks for. Raises NotFound; Conflict for
    one that is switched off."""
    refuse_bound(caller)
    with scope(caller.tenant_id):
        webhook = _locked(caller, webhook_id)
        if not webhook.is_active:
            raise Conflict("This webhook is switched off.")
        delivery = announcing.insert_test(webhook)
        _record(caller, "webhook.test", webhook)
        idempotency.keep(delivery, user_id="")
    return delivery


def refuse_bound(caller: Caller) -> None:
    """Raises Forbidden for a key that does not reach all of the tenant."""
    if caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("A key that is bound to a user, agent or project does not reach webhooks.")


def _checked(given: Changes) -> dict[str, Any]:
    """As it is stored. The address is asked for now, and again whenever something is sent."""
    if unknown := given.keys() - get_type_hints(Changes).keys():
        raise Invalid("Cannot be set.", min(unknown))
    checked: dict[str, Any] = dict(given)
    for name, allowed in CHOICES.items():
        if name in checked:
            if wrong := [one for one in checked[name] if one not in allowed]:
                raise Invalid(f"{wrong[0]} is none of {', '.join(allowed)}.", name)
            checked[name] = list(dict.fromkeys(checked[name]))
    if "events" in checked and not checked["events"]:
        raise Invalid("Needs at least one.", "events")
    if "project" in checked:
        checked["project"] = checked["project"].strip().lower()  # as memories have it
    if "url" in checked:
        _check_url(checked["url"])
    return checked


def _check_url(url: str) -> None:
    target = parse(url)
    try:
        resolve(target, allowed=settings.WEBHOOK_ALLOWED_NETWORKS)
    except (OSError, UnicodeError) as error:
        raise Refused("The host cannot be found.") from error


def _locked(caller: Caller, webhook_id: UUID) -> Webhook:
    mine = Webhook.objects.select_for_update().filter(tenant_id=caller.tenant_id, id=webhook_id)
    found = mine.first()
    if found is None:
        raise NotFound(ABSENT)
    return found


def _record(caller: Caller, action: str, webhook: Webhook, **details: Any) -> None:
    """In the open scope. A URL may hold a token: the log has the host alone."""
    host = parse(webhook.url).host
    audit.record(
        tenant_id=caller.tenant_id,
        actor=caller.principal,
        action=action,
        target=str(webhook.id),
        host=host,
        **details,
    )
    transaction.on_commit(lambda: announcing.forget(caller.tenant_id))
