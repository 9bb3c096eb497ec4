"""Episodes: what happened, kept for later sessions; and their embeddings."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class MemoryType(models.TextChoices):
    """What an episode is: something that happened, something that holds, or a verbatim turn."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    MESSAGE = "message"


class Origin(models.TextChoices):
    """Whether a session left it behind (retention applies) or someone saved it on purpose."""

    SESSION = "session"
    SAVED = "saved"


class Episode(models.Model):
    """One long-term record."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    namespace = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    memory_type = models.CharField(max_length=16, choices=MemoryType.choices, default=MemoryType.EPISODIC)
    origin = models.CharField(max_length=16, choices=Origin.choices, default=Origin.SAVED)
    text = models.TextField()
    topics = ArrayField(models.TextField(), default=list)
    entities = ArrayField(models.TextField(), default=list)
    outcome = models.TextField(blank=True)
    key_decisions = models.JSONField(null=True)
    entities_mentioned = models.JSONField(null=True)
    tools_called = models.JSONField(null=True)
    covers_turns = ArrayField(models.BigIntegerField(), size=2, null=True, help_text="First and last turn.")
    event_date = models.DateTimeField(null=True, help_text="When it happened, if not when it was written.")
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    embed_pending = models.BooleanField(default=True)

    class Meta:
        db_table = "agent_episodes"
        indexes = [
            # Serves recall and lists of one user's or one agent's episodes.
            models.Index(fields=["tenant", "user_id", "-created_at"], name="episode_user"),
            models.Index(fields=["tenant", "agent_id", "-created_at"], name="episode_agent"),
            # Serves the list of all.
            models.Index(fields=["tenant", "-created_at", "-id"], name="episode_recent"),
            # Serves the memories of one conversation.
            models.Index(fields=["tenant", "session", "created_at"], name="episode_session"),
            # Serves the sweeper that embeds what could not be embedded when it was written.
            models.Index(
                fields=["tenant", "id"], condition=models.Q(embed_pending=True), name="episode_embed_pending"
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class EpisodeEmbedding(models.Model):
    """An episode's vector by one model; two models' vectors can stand side by side.

    A table of its own keeps the vectors inline in narrow rows: beside the text they would be moved out of
    line, and an exact scan would fetch each through a second index. Agent and user are copied here so that
    a scan of a subject reads this table alone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    episode_id = models.UUIDField()
    agent_id = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "episode_embeddings"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "episode_id", "model"], name="embedding_episode_model")
        ]
        indexes = [
            # Serve exact search inside a user or an agent.
            models.Index(fields=["tenant", "user_id", "model"], name="embedding_user"),
            models.Index(fields=["tenant", "agent_id", "model"], name="embedding_agent"),
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} {self.model}"
