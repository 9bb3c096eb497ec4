# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `webhooks` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class Delivery(Answer):
    """What `webhooks.test` answers."""

    id: str
    webhook_id: str
    event_id: str
    """The same for each webhook and attempt: `webhook-id`."""
    event: str
    data: Any
    state: str
    attempts: int
    next_attempt_at: datetime | None
    last_status: int | None
    last_error: str | None
    latency_ms: int | None
    created_at: datetime
    delivered_at: datetime | None


class Webhook(Answer):
    """What `webhooks.create` answers."""

    id: str
    url: str
    description: str
    events: list[str]
    kinds: list[str]
    """None: of all."""
    agent_id: str | None
    project: str | None
    include_text: bool
    is_active: bool
    secret_version: int
    """Counts the secrets it has had."""
    rotated_at: datetime | None
    failures: int
    """Attempts that failed since one succeeded."""
    resume_at: datetime | None
    """Nothing is sent before."""
    disabled_at: datetime | None
    disabled_reason: str | None
    created_at: datetime
    updated_at: datetime


class WebhookSecret(Answer):
    """What `webhooks.secret` answers."""

    id: str
    secret: str
    """`whsec_` and the key in base64."""
    version: int


class DeliveryPage(Answer):
    """A page of `Delivery`; with `next` as `cursor` comes the one behind it."""

    results: list[Delivery]
    next: str | None


class WebhookPage(Answer):
    """A page of `Webhook`; with `next` as `cursor` comes the one behind it."""

    results: list[Webhook]
    next: str | None
