"""Episodes: what happened, kept for later sessions, and what they are found by; entity slots beside them."""

from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from episodic.entity_models import Entity, EntityEmbedding, SlotStatus
from episodic.item_models import ITEM, ITEMS_NAMESPACE, Item, ItemVector
from episodic.view_models import SummaryPartition, SummaryRun, SummaryView
from tenants.models import Tenant

__all__ = [
    "ITEM",
    "ITEMS_NAMESPACE",
    "Entity",
    "EntityEmbedding",
    "Episode",
    "EpisodeAccess",
    "EpisodeEmbedding",
    "EpisodeRevision",
    "EpisodeWords",
    "Item",
    "ItemVector",
    "MemoryType",
    "Origin",
    "SignatureField",
    "SlotStatus",
    "SummaryPartition",
    "SummaryRun",
    "SummaryView",
]


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
    external_id = models.CharField(
        max_length=255,
        blank=True,
        default="",
        db_default="",
        help_text="The client's own id, if it gave one.",
    )
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
    extraction = models.JSONField(
        null=True, help_text="How it was taken from a conversation: strategy, config, from which turns."
    )
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
    persisted_at = models.DateTimeField(
        null=True,
        help_text="When it was stored, where clients say when it was created; null: at that moment.",
    )
    updated_at = models.DateTimeField(null=True, help_text="When somebody last edited it.")
    embed_pending = models.BooleanField(default=True)
    version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Counts what was done to it: the entity tag."
    )

    # Not a column: of an episode that was just stored, those that hold no more because of it.
    supersedes: tuple[UUID, ...] = ()

    class Meta:
        db_table = "agent_episodes"
        constraints = [
            # Serves the search for one by its client's id as well, whosever it is.
            models.UniqueConstraint(
                fields=["tenant", "external_id", "namespace", "user_id"],
                condition=~models.Q(external_id=""),
                name="episode_external_id",
            )
        ]
        indexes = [
            # Serves recall and lists of one user's or one agent's episodes.
            models.Index(fields=["tenant", "user_id", "-created_at"], name="episode_user"),
            models.Index(fields=["tenant", "agent_id", "-created_at"], name="episode_agent"),
            # Serves the list of all.
            models.Index(fields=["tenant", "-created_at", "-id"], name="episode_recent"),
            # Serve the lists of what is pinned, of a project, and of what one episode took the place of.
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                condition=models.Q(pinned_at__isnull=False),
                name="episode_pinned",
            ),
            models.Index(
                fields=["tenant", "project", "-created_at", "-id"],
                condition=~models.Q(project=""),
                name="episode_project",
            ),
            models.Index(
                fields=["tenant", "superseded_by"],
                condition=models.Q(superseded_by__isnull=False),
                name="episode_superseded",
            ),
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


class SignatureField(models.TextField):
    """A bit for each dimension of a vector: whether it is positive there."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bit varying"


class EpisodeEmbedding(models.Model):
    """An episode's vector by one model; two models' vectors can stand side by side.

    A table of its own keeps the vectors inline in narrow rows: beside the text they would be moved out of
    line, and an exact scan would fetch each through a second index. Agent, user and the end of validity are
    copied here so that a scan of what holds of a subject reads this table alone; that of a large subject
    reads only the signatures, which stand in the indexes.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    episode_id = models.UUIDField()
    agent_id = models.CharField(max_length=255, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    signature = models.GeneratedField(
        expression=models.Func("embedding", function="binary_quantize"),
        output_field=SignatureField(),
        db_persist=True,
    )
    valid_to = models.DateTimeField(null=True, help_text="The episode's.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "episode_embeddings"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "episode_id", "model"], name="embedding_episode_model")
        ]
        indexes = [
            # Serve search inside a user or an agent: all of what a first pass over many vectors looks at.
            models.Index(
                fields=["tenant", "user_id", "model"],
                include=["signature", "valid_to", "agent_id", "episode_id"],
                name="embedding_of_user",
            ),
            models.Index(
                fields=["tenant", "agent_id", "model"],
                include=["signature", "valid_to", "user_id", "episode_id"],
                name="embedding_of_agent",
            ),
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


class EpisodeAccess(models.Model):
    """When an episode was last recalled, and how often. Its id is the episode's; without a row, never.

    A table of its own keeps the episodes' rows, which are wide and indexed many times, as they were written.
    """

    id = models.UUIDField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    last_accessed_at = models.DateTimeField()
    access_count = models.PositiveBigIntegerField(default=1)

    class Meta:
        db_table = "episode_access"
        indexes = [
            # Serve the ranking by recency: what of a user's or an agent's was used last.
            models.Index(fields=["tenant", "user_id", "-last_accessed_at"], name="episode_access_user"),
            models.Index(fields=["tenant", "agent_id", "-last_accessed_at"], name="episode_access_agent"),
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
