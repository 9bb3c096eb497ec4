"""Episodes: what happened, kept for later sessions. Entity slots: what holds of a user. Their embeddings."""

from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
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
    content_hash = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="SHA-256 of the text without its case and spacing.",
    )
    valid_from = models.DateTimeField(null=True, help_text="Null: since it was written.")
    valid_to = models.DateTimeField(null=True, help_text="When it ceased to hold; null: it holds.")
    superseded_by = models.UUIDField(null=True, help_text="The episode that says what holds instead.")
    pinned_at = models.DateTimeField(null=True, help_text="Retention passes a pinned episode by.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(null=True, help_text="When somebody last edited it.")
    embed_pending = models.BooleanField(default=True)
    version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Counts what was done to it: the entity tag."
    )

    # Not a column: of an episode that was just stored, those that hold no more because of it.
    supersedes: tuple[UUID, ...] = ()

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
            # Serves the question whether a user's memory says the same already.
            models.Index(
                fields=["tenant", "user_id", "content_hash"],
                condition=~models.Q(content_hash=""),
                name="episode_content",
            ),
            # Serves the nightly compaction: the indexed turns that are still recalled.
            models.Index(
                fields=["tenant", "id"],
                condition=models.Q(memory_type="message", origin="session", valid_to__isnull=True),
                name="episode_open_turn",
            ),
            # Serves retention: the oldest that sessions left behind.
            models.Index(
                fields=["tenant", "created_at"],
                condition=models.Q(origin="session", pinned_at__isnull=True),
                name="episode_retention",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class EpisodeEmbedding(models.Model):
    """An episode's vector by one model; two models' vectors can stand side by side.

    A table of its own keeps the vectors inline in narrow rows: beside the text they would be moved out of
    line, and an exact scan would fetch each through a second index. Agent, user and the end of validity are
    copied here so that a scan of what holds of a subject reads this table alone.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    episode_id = models.UUIDField()
    agent_id = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    valid_to = models.DateTimeField(null=True, help_text="The episode's.")
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


class EpisodeWords(models.Model):
    """What an episode is found by beside its vector: its lexemes, and what speaks for it. Its id is the
    episode's.

    A table of its own keeps the rows narrow: a search looks at hundreds of them. Each lexeme carries a mark
    of its corpus (see `episodic.lexemes`), so that a search reads the postings of one subject alone.
    """

    id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    thread = models.UUIDField(null=True, help_text="Stands for its session; null: it is of none.")
    place = models.BigIntegerField(null=True, help_text="Of a verbatim turn: its number in the session.")
    speaker = models.CharField(max_length=64, blank=True, help_text="The lexeme of who said it.")
    names = ArrayField(models.TextField(), default=list, help_text="Its entities and topics.")
    asks = models.BooleanField(help_text="It ends as a question.")
    tells_time = models.BooleanField(help_text="It holds a word of time.")
    happened_at = models.DateTimeField()
    created_at = models.DateTimeField(help_text="The episode's.")
    valid_to = models.DateTimeField(null=True, help_text="The episode's.")
    length = models.IntegerField(help_text="Number of lexemes.")
    lexemes = SearchVectorField()

    class Meta:
        db_table = "episode_search"
        indexes = [
            # Serves keyword search. Without the pending list, which every search would have to read through.
            GinIndex(fields=["lexemes"], fastupdate=False, name="episode_lexemes"),
            # Serve the figures of a subject, from the index alone.
            models.Index(
                fields=["tenant", "user_id"],
                include=["length", "happened_at", "speaker"],
                name="episode_search_user",
            ),
            models.Index(
                fields=["tenant", "agent_id", "user_id"],
                include=["length", "happened_at", "speaker"],
                name="episode_search_agent",
            ),
            # Serves the turns around one.
            models.Index(
                fields=["tenant", "thread", "place"],
                condition=models.Q(place__isnull=False),
                name="episode_search_place",
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class EpisodeRevision(models.Model):
    """What an episode said before it was edited."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    episode_id = models.UUIDField()
    number = models.PositiveIntegerField(help_text="1, 2, 3 …: the oldest is 1.")
    user_id = models.CharField(max_length=255, blank=True)
    text = models.TextField()
    topics = ArrayField(models.TextField(), default=list)
    entities = ArrayField(models.TextField(), default=list)
    outcome = models.TextField(blank=True)
    event_date = models.DateTimeField(null=True)
    metadata = models.JSONField(default=dict)
    replaced_at = models.DateTimeField()
    replaced_by = models.CharField(max_length=255, help_text="Whose change it was: the caller.")

    class Meta:
        db_table = "episode_revisions"
        constraints = [
            # Serves the history of one episode as well.
            models.UniqueConstraint(fields=["tenant", "episode_id", "number"], name="episode_revision_number")
        ]
        indexes = [
            # Serves one user's export and erasure.
            models.Index(fields=["tenant", "user_id"], name="episode_revision_user")
        ]

    def __str__(self) -> str:
        return f"{self.episode_id} r{self.number}"


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
            # Serves the list of all.
            models.Index(fields=["tenant", "-updated_at", "-id"], name="entity_recent"),
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
