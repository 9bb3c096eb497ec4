"""What the routes of webhooks accept and answer."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text
from api.native.serializers import Strict
from webhooks.addresses import LONGEST
from webhooks.models import Delivery as DeliveryRow
from webhooks.models import DeliveryState, Event, Kind
from webhooks.models import Webhook as WebhookRow
from webhooks.webhooks import EVENTS

OF_ALL = "None: of all."


class WebhookChanges(Strict):
    url = Id(required=False, max_length=LONGEST, help_text="Where to: HTTPS, to a public address.")
    description = Text(required=False, max_length=500)
    events = serializers.ListField(
        child=serializers.ChoiceField(choices=EVENTS), required=False, allow_empty=False, max_length=20
    )
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=Kind.choices), required=False, max_length=20, help_text=OF_ALL
    )
    agent_id = Text(required=False, max_length=255, help_text="Only of this agent's; empty: of all.")
    project = Text(required=False, max_length=200, help_text="Only of this project's; empty: of all.")
    include_text = serializers.BooleanField(required=False, help_text="Whether to tell what memories say.")
    is_active = serializers.BooleanField(required=False)


class NewWebhook(WebhookChanges):
    url = Id(max_length=LONGEST, help_text="Where to: HTTPS, to a public address.")


class Webhook(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.CharField()
    description = serializers.CharField()
    events = serializers.ListField(child=serializers.ChoiceField(choices=EVENTS))
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=Kind.choices), help_text=OF_ALL)
    agent_id = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    include_text = serializers.BooleanField()
    is_active = serializers.BooleanField()
    secret_version = serializers.IntegerField(help_text="Counts the secrets it has had.")
    rotated_at = serializers.DateTimeField(allow_null=True)
    failures = serializers.IntegerField(help_text="Attempts that failed since one succeeded.")
    resume_at = serializers.DateTimeField(allow_null=True, help_text="Nothing is sent before.")
    disabled_at = serializers.DateTimeField(allow_null=True)
    disabled_reason = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class WebhookPage(serializers.Serializer[Any]):
    results = Webhook(many=True)
    next = serializers.CharField(allow_null=True)


class WebhookSecret(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    secret = serializers.CharField(help_text="`whsec_` and the key in base64.")
    version = serializers.IntegerField()


class Delivery(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    webhook_id = serializers.UUIDField()
    event_id = serializers.CharField(help_text="The same for each webhook and attempt: `webhook-id`.")
    event = serializers.ChoiceField(choices=Event.choices)
    data = AnyJSON()  # type: ignore[assignment]  # a field, not what serializers call so
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    attempts = serializers.IntegerField()
    next_attempt_at = serializers.DateTimeField(allow_null=True)
    last_status = serializers.IntegerField(allow_null=True)
    last_error = serializers.CharField(allow_null=True)
    latency_ms = serializers.IntegerField(allow_null=True)
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)


class DeliveryPage(serializers.Serializer[Any]):
    results = Delivery(many=True)
    next = serializers.CharField(allow_null=True)


def webhook(one: WebhookRow) -> dict[str, Any]:
    """A webhook as it is answered, without its secret."""
    same = (
        "id", "url", "description", "events", "kinds", "include_text", "is_active", "secret_version",
        "rotated_at", "failures", "resume_at", "disabled_at", "created_at", "updated_at",
    )  # fmt: skip
    return {name: getattr(one, name) for name in same} | {
        "agent_id": one.agent_id or None,
        "project": one.project or None,
        "disabled_reason": one.disabled_reason or None,
    }


def delivery(one: DeliveryRow) -> dict[str, Any]:
    """A delivery as it is answered."""
    same = ("id", "webhook_id", "event", "data", "state", "attempts", "last_status", "latency_ms")
    return {name: getattr(one, name) for name in (*same, "created_at", "delivered_at")} | {
        "event_id": f"evt_{one.event_id.hex}",
        "next_attempt_at": one.due_at if one.state == DeliveryState.PENDING else None,
        "last_error": one.last_error or None,
    }
