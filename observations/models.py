"""Observations, their history, and what they are found by: lexemes and embeddings."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from tenants.models import Tenant

LIVE = models.Q(deleted_at__isnull=True)


class Observation(models.Model):
    """One thing noted on purpose: a decision, a discovery, a fix. Its number is what clients call it."""

    id = models.BigAutoField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    user_id = models.CharField(max_length=255, blank=True)
    agent_id = models.CharField(max_length=255, blank=True)
    project = models.CharField(max_length=200, help_text="In lower case.")
    session = models.CharField(max_length=255, blank=True, help_text="The client's own session id.")
    scope = models.CharField(max_length=50, default="project", help_text="`global`: seen from any project.")
    type = models.CharField(max_length=50)
    title = models.CharField(max_length=500)
    content = models.TextField()
    tags = ArrayField(models.TextField(), default=list)
    topic_key = models.CharField(max_length=200, blank=True)
    normalized_hash = models.CharField(max_length=64, help_text="SHA-256 of the normalised content, in hex.")
    revision_count = models.IntegerField(default=1)
    duplicate_count = models.IntegerField(default=1)
    last_seen_at = models.DateTimeField(null=True)
    promoted_to = models.TextField(blank=True, help_text="Only imports set it.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, help_text="When it went to the trash.")
    embed_pending = models.BooleanField(default=True)

    class Meta:
        constraints = [
            # One live observation per topic: two writers of the same key cannot both insert.
            models.UniqueConstraint(
                fields=["tenant", "project", "scope", "user_id", "topic_key"],
                condition=LIVE & ~models.Q(topic_key=""),
                name="observation_topic",
            )
        ]
        indexes = [
            # Serve lists and the back-fill of the context: the newest of a project, of all projects' global
            # ones, of a tenant.
            models.Index(
                fields=["tenant", "project", "-created_at", "-id"],
                condition=LIVE,
                name="observation_project",
            ),
            models.Index(
                fields=["tenant", "-created_at", "-id"],
                condition=LIVE & models.Q(scope="global"),
                name="observation_global",
            ),
            models.Index(fields=["tenant", "-created_at", "-id"], condition=LIVE, name="observation_recent"),
            # Serve people's lists: what was changed last, one type's, one agent's, one session's.
            models.Index(fields=["tenant", "-updated_at", "-id"], condition=LIVE, name="observation_updated"),
            models.Index(
                fields=["tenant", "type", "-created_at", "-id"], condition=LIVE, name="observation_type"
            ),
            models.Index(
                fields=["tenant", "agent_id", "-created_at", "-id"], condition=LIVE, name="observation_agent"
            ),
            models.Index(
                fields=["tenant", "session", "-created_at", "-id"], condition=LIVE, name="observation_session"
            ),
            # Serves the search for a duplicate within the window.
            models.Index(
                fields=["tenant", "project", "normalized_hash", "-created_at"],
                condition=LIVE,
                name="observation_duplicate",
            ),
            # Serves one user's lists, export and erasure.
            models.Index(fields=["tenant", "user_id", "-created_at", "-id"], name="observation_user"),
            # Serves the trash, newest first.
            models.Index(
                fields=["tenant", "-deleted_at", "-id"],
                condition=models.Q(deleted_at__isnull=False),
                name="observation_trash",
            ),
            # Serves the job that embeds what is new.
            models.Index(
                fields=["tenant", "id"], condition=models.Q(embed_pending=True), name="observation_pending"
            ),
        ]

    def __str__(self) -> str:
        return self.title[:80]


class ObservationRevision(models.Model):
    """What an observation said before it was changed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    observation_id = models.BigIntegerField()
    number = models.IntegerField(help_text="1 is what it said first.")
    user_id = models.CharField(max_length=255, blank=True, help_text="The observation's.")
    type = models.CharField(max_length=50)
    title = models.CharField(max_length=500)
    content = models.TextField()
    tags = ArrayField(models.TextField(), default=list)
    replaced_at = models.DateTimeField()
    replaced_by = models.CharField(max_length=255, help_text="Whose change it was: the caller.")
    merged_from = models.BigIntegerField(null=True, help_text="Of which other observation this is the text.")

    class Meta:
        constraints = [
            # Serves the history of one observation as well.
            models.UniqueConstraint(
                fields=["tenant", "observation_id", "number"], name="observation_revision_number"
            )
        ]
        indexes = [
            # Serves one user's export and erasure.
            models.Index(fields=["tenant", "user_id"], name="observation_revision_user")
        ]

    def __str__(self) -> str:
        return f"{self.observation_id} r{self.number}"


class SearchEntry(models.Model):
    """What a live observation is found by: its lexemes. Its id is the observation's.

    A table of its own keeps the rows narrow: scoring reads hundreds of them, and beside the content the
    lexemes would be moved out of line. Each lexeme carries a mark of its corpus (see `observations.lexemes`),
    so that the index of one project holds nothing of another's.
    """

    id = models.BigIntegerField(primary_key=True)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    corpus = models.CharField(max_length=200, blank=True, help_text="The project; empty for global ones.")
    user_id = models.CharField(max_length=255, blank=True)
    scope = models.CharField(max_length=50)
    type = models.CharField(max_length=50)
    created_at = models.DateTimeField()
    length = models.IntegerField(help_text="Number of lexemes.")
    lexemes = SearchVectorField()

    class Meta:
        db_table = "observation_search"
        indexes = [
            # Serves keyword search. Without the pending list, which every search would have to read through.
            GinIndex(fields=["lexemes"], fastupdate=False, name="observation_lexemes"),
            # Serves the size of a corpus, from the index alone.
            models.Index(
                fields=["tenant", "corpus", "user_id"], include=["length"], name="observation_corpus"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class ObservationEmbedding(models.Model):
    """An observation's vector by one model; two models' vectors can stand side by side."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    observation_id = models.BigIntegerField()
    corpus = models.CharField(max_length=200, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "observation_embeddings"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "observation_id", "model"], name="observation_embedding_model"
            )
        ]
        indexes = [
            # Serves exact search inside a corpus.
            models.Index(
                fields=["tenant", "corpus", "model", "user_id"], name="observation_embedding_corpus"
            ),
            # Serves one user's erasure.
            models.Index(fields=["tenant", "user_id"], name="observation_embedding_user"),
        ]

    def __str__(self) -> str:
        return f"{self.observation_id} {self.model}"
