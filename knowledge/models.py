"""Documents in pieces that can be found, and procedures: what is known rather than remembered."""

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from pgvector.django import VectorField
from uuid_utils.compat import uuid7

from tenants.models import Tenant


class Document(models.Model):
    """An ingested text. It is found by its chunks."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    project = models.CharField(
        max_length=200, blank=True, help_text="In lower case; empty: for every project."
    )
    user_id = models.CharField(max_length=255, blank=True, help_text="Of this user alone; empty: for all.")
    title = models.CharField(max_length=500)
    source = models.CharField(
        max_length=1000, blank=True, help_text="Where it comes from: the same source again replaces it."
    )
    media_type = models.CharField(max_length=100)
    checksum = models.CharField(max_length=64, help_text="SHA-256 of what was ingested.")
    size = models.BigIntegerField(help_text="Bytes that were ingested.")
    chunk_count = models.PositiveIntegerField(default=0)
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            # Decides which document a source means, also when it is ingested twice at once.
            models.UniqueConstraint(
                fields=["tenant", "project", "user_id", "source"],
                condition=~models.Q(source=""),
                name="document_source",
            )
        ]
        indexes = [
            # Serves the list, newest first.
            models.Index(fields=["tenant", "-updated_at", "-id"], name="document_recent"),
            # Serves the question whether the same text is there already.
            models.Index(fields=["tenant", "checksum"], name="document_checksum"),
            # Serves one user's export and erasure.
            models.Index(fields=["tenant", "user_id"], condition=~models.Q(user_id=""), name="document_user"),
        ]

    def __str__(self) -> str:
        return self.title


class Chunk(models.Model):
    """A passage of a document. Project and user are the document's, so that a search reads one table."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    document_id = models.UUIDField()
    project = models.CharField(max_length=200, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(help_text="0, 1, 2 … within the document.")
    heading = models.CharField(max_length=500, blank=True, help_text="The headings that it stands under.")
    text = models.TextField()
    page = models.PositiveIntegerField(null=True, help_text="Of a PDF: the page that it begins on.")
    length = models.IntegerField(help_text="Number of lexemes.")
    lexemes = SearchVectorField()
    embed_pending = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "document_id", "position"], name="chunk_position")
        ]
        indexes = [
            # Serves keyword search. Without the pending list, which every search would have to read through.
            GinIndex(fields=["lexemes"], fastupdate=False, name="chunk_lexemes"),
            # Serves the sweeper that embeds what could not be embedded when it was written.
            models.Index(
                fields=["tenant", "id"], condition=models.Q(embed_pending=True), name="chunk_embed_pending"
            ),
            # Serves the figures of a corpus, from the index alone.
            models.Index(fields=["tenant", "project", "user_id"], include=["length"], name="chunk_corpus"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} {self.position}"


class ChunkEmbedding(models.Model):
    """A chunk's vector by one model; two models' vectors can stand side by side."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    chunk_id = models.UUIDField()
    project = models.CharField(max_length=200, blank=True)
    user_id = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=100)
    embedding = VectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "chunk_embeddings"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "chunk_id", "model"], name="chunk_embedding_model")
        ]
        indexes = [
            # Serves exact search inside a project.
            models.Index(fields=["tenant", "project", "model", "user_id"], name="chunk_embedding_project")
        ]

    def __str__(self) -> str:
        return f"{self.chunk_id} {self.model}"


class Procedure(models.Model):
    """One version of how something is done: a prompt, a workflow, a guardrail. It is never changed."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    name = models.CharField(max_length=200)
    version = models.CharField(max_length=64)
    body = models.TextField()
    checksum = models.CharField(max_length=64, help_text="SHA-256 of the body.")
    metadata = models.JSONField(default=dict, help_text="What stood above the body.")
    created_by = models.CharField(max_length=255)
    created_at = models.DateTimeField()

    deployment: "Deployment | None" = None  # of one that was read as what an environment runs: its last there

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name", "version"], name="procedure_version")
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Deployment(models.Model):
    """Which version of a procedure an environment runs: that of the newest; the others are history."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, db_index=False)
    environment = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    procedure_id = models.UUIDField()
    deployed_by = models.CharField(max_length=255)
    deployed_at = models.DateTimeField()

    class Meta:
        indexes = [
            # Serves the question what an environment runs.
            models.Index(
                fields=["tenant", "environment", "name", "-deployed_at", "-id"], name="deployment_newest"
            )
        ]

    def __str__(self) -> str:
        return f"{self.environment} {self.name}"
