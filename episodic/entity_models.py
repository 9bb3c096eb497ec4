"""Entity slots: what holds of a user. Their embeddings."""

from django.db import models
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class SlotStatus(models.TextChoices):
    """What counts of a slot: `current` holds, `pending` waits for a confirmation, `superseded` held until
    another value came, `retracted` held, or waited, until somebody took it back."""

    CURRENT = "current"
    PENDING = "pending"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"


class Entity(models.Model):
    """One value of a user's slot. A slot's history is all its rows; at most one is current, one pending."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255)
    key = models.CharField(max_length=255)
    value = models.JSONField()
    confidence = models.FloatField(help_text="From 0 to 1.")
    status = models.CharField(max_length=16, choices=SlotStatus.choices, default=SlotStatus.CURRENT)
    source = models.CharField(max_length=64, blank=True, help_text="Who says so: `api`, `rules`, `llm`, …")
    agent_id = models.CharField(max_length=255, blank=True, help_text="The agent that wrote it.")
    source_session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    source_turn = models.BigIntegerField(null=True, help_text="Number of the turn in that session.")
    valid_from = models.DateTimeField()
    valid_to = models.DateTimeField(null=True, help_text="When it ceased to hold; null: it holds, or waits.")
    superseded_by = models.UUIDField(null=True, help_text="The row with the value that came after.")
    pinned_at = models.DateTimeField(
        null=True, help_text="What is extracted does not replace a pinned value."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    embed_pending = models.BooleanField(default=True)

    class Meta:
        db_table = "user_entities"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "user_id", "key"],
                condition=models.Q(status="current"),
                name="entity_current",
            ),
            models.UniqueConstraint(
                fields=["tenant", "user_id", "key"],
                condition=models.Q(status="pending"),
                name="entity_pending",
            ),
        ]
        indexes = [
            # Serves a slot's history, and reads of what held at some moment.
            models.Index(fields=["tenant", "user_id", "key", "-valid_from", "-id"], name="entity_history"),
            # Serve the lists of all, of what one key holds of whomever, and of what waits.
            models.Index(fields=["tenant", "-updated_at", "-id"], name="entity_recent"),
            models.Index(fields=["tenant", "key", "-updated_at", "-id"], name="entity_key"),
            models.Index(
                fields=["tenant", "-updated_at", "-id"],
                condition=models.Q(status="pending"),
                name="entity_waiting",
            ),
            # Serves the sweeper that embeds what could not be embedded when it was written.
            models.Index(
                fields=["tenant", "id"], condition=models.Q(embed_pending=True), name="entity_embed_pending"
            ),
        ]
        verbose_name_plural = "entities"

    def __str__(self) -> str:
        return f"{self.user_id} {self.key}"


class EntityEmbedding(models.Model):
    """The vector of a slot's "key: value" by one model."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    entity_id = models.UUIDField()
    user_id = models.CharField(max_length=255)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "entity_embeddings"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "entity_id", "model"], name="entity_embedding_model")
        ]
        indexes = [
            # Serves exact search among a user's slots.
            models.Index(fields=["tenant", "user_id", "model"], name="entity_embedding_user")
        ]

    def __str__(self) -> str:
        return f"{self.entity_id} {self.model}"
