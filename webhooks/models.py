"""Whom a tenant tells of what happens to its memories, and what was told."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class Event(models.TextChoices):
    """What a webhook can be told of."""

    CREATED = "memory.created"
    UPDATED = "memory.updated"
    RETRACTED = "memory.retracted"
    ERASED = "memory.erased"
    SUBJECT_ERASED = "subject.erased"
    SUBJECT_EXPORTED = "subject.exported"
    TEST = "webhook.test"


class Kind(models.TextChoices):
    """Kinds of memories."""

    EPISODE = "episode"
    ENTITY = "entity"
    OBSERVATION = "observation"
    DOCUMENT = "document"


class DeliveryState(models.TextChoices):
    """What has become of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(models.Model):
    """An address, and what it is told of. Its secret is derived, not stored (`signing.py`)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    url = models.CharField(max_length=2_000)
    description = models.CharField(max_length=500, blank=True)
    events = ArrayField(models.CharField(max_length=32), help_text="Of these only.")
    kinds = ArrayField(models.CharField(max_length=16), default=list, help_text="None: of all.")
    agent_id = models.CharField(max_length=255, blank=True, help_text="Of this agent's only; empty: of all.")
    project = models.CharField(max_length=200, blank=True, help_text="Of this one's only; empty: of all.")
    include_text = models.BooleanField(default=False, help_text="Whether it is told what the memory says.")
    is_active = models.BooleanField(default=True)
    secret_version = models.PositiveIntegerField(default=1, help_text="Counts the secrets it has had.")
    rotated_at = models.DateTimeField(null=True, help_text="When it got the present one; null: at first.")
    failures = models.PositiveIntegerField(default=0, help_text="Attempts that failed since one succeeded.")
    resume_at = models.DateTimeField(null=True, help_text="Nothing is sent before, since it failed.")
    disabled_at = models.DateTimeField(null=True)
    disabled_reason = models.CharField(max_length=200, blank=True)
    created_by = models.CharField(max_length=255)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        # Serves the list, newest first.
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="webhook_recent")]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """An event that one webhook is told of. It is written in the commit of what it tells."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    # No foreign key: a webhook that is deleted at the same moment must not fail whoever writes a memory.
    webhook_id = models.UUIDField()
    event_id = models.UUIDField(help_text="The same for each webhook and attempt.")
    event = models.CharField(max_length=32, choices=Event.choices)
    kind = models.CharField(max_length=16, blank=True, choices=Kind.choices)
    memory_id = models.CharField(max_length=64, blank=True, help_text="Of the one memory that it tells of.")
    user_id = models.CharField(max_length=255, blank=True)
    names = ArrayField(
        models.TextField(),
        null=True,
        help_text="Of a memory of nobody's: the names under which it is kept; whom one names, it is about.",
    )
    data = models.JSONField(help_text="What is told.")
    has_text = models.BooleanField(default=False, help_text="Whether that is what the memory says, too.")
    state = models.CharField(max_length=9, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Of one that is pending: not sent before.")
    last_status = models.PositiveIntegerField(null=True, help_text="The answer's.")
    last_error = models.CharField(max_length=200, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, help_text="Of the last attempt.")
    created_at = models.DateTimeField()
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            # Serves the sending: what is due of a webhook.
            models.Index(
                fields=["tenant", "webhook_id", "due_at"],
                condition=models.Q(state="pending"),
                name="delivery_due",
            ),
            # Serves the lists of all and of one webhook's, newest first; ids are in the order of time.
            models.Index(fields=["tenant", "-id"], name="delivery_recent"),
            models.Index(fields=["tenant", "webhook_id", "-id"], name="delivery_of_webhook"),
            # Serves the clearing of old ones.
            models.Index(fields=["tenant", "created_at"], name="delivery_age"),
            # Serves the erasure of a person.
            models.Index(fields=["tenant", "user_id"], condition=~models.Q(user_id=""), name="delivery_user"),
            # Serves the erasure of a memory.
            models.Index(
                fields=["tenant", "memory_id"], condition=models.Q(has_text=True), name="delivery_text"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.state}"
