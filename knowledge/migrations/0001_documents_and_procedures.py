import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import pgvector.django.vector
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0005_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Chunk",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("document_id", models.UUIDField()),
                ("project", models.CharField(blank=True, max_length=200)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("position", models.PositiveIntegerField(help_text="0, 1, 2 … within the document.")),
                (
                    "heading",
                    models.CharField(
                        blank=True, help_text="The headings that it stands under.", max_length=500
                    ),
                ),
                ("text", models.TextField()),
                (
                    "page",
                    models.PositiveIntegerField(help_text="Of a PDF: the page that it begins on.", null=True),
                ),
                ("length", models.IntegerField(help_text="Number of lexemes.")),
                ("lexemes", django.contrib.postgres.search.SearchVectorField()),
                ("embed_pending", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fastupdate=False, fields=["lexemes"], name="chunk_lexemes"
                    ),
                    models.Index(
                        condition=models.Q(("embed_pending", True)),
                        fields=["tenant", "id"],
                        name="chunk_embed_pending",
                    ),
                    models.Index(
                        fields=["tenant", "project", "user_id"], include=("length",), name="chunk_corpus"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "document_id", "position"), name="chunk_position"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ChunkEmbedding",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("chunk_id", models.UUIDField()),
                ("project", models.CharField(blank=True, max_length=200)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("model", models.CharField(max_length=100)),
                ("embedding", pgvector.django.vector.VectorField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "chunk_embeddings",
                "indexes": [
                    models.Index(
                        fields=["tenant", "project", "model", "user_id"], name="chunk_embedding_project"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "chunk_id", "model"), name="chunk_embedding_model"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Deployment",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("environment", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=200)),
                ("procedure_id", models.UUIDField()),
                ("deployed_by", models.CharField(max_length=255)),
                ("deployed_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["tenant", "environment", "name", "-deployed_at", "-id"],
                        name="deployment_newest",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Document",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "project",
                    models.CharField(
                        blank=True, help_text="In lower case; empty: for every project.", max_length=200
                    ),
                ),
                (
                    "user_id",
                    models.CharField(
                        blank=True, help_text="Of this user alone; empty: for all.", max_length=255
                    ),
                ),
                ("title", models.CharField(max_length=500)),
                (
                    "source",
                    models.CharField(
                        blank=True,
                        help_text="Where it comes from: the same source again replaces it.",
                        max_length=1000,
                    ),
                ),
                ("media_type", models.CharField(max_length=100)),
                ("checksum", models.CharField(help_text="SHA-256 of what was ingested.", max_length=64)),
                ("size", models.BigIntegerField(help_text="Bytes that were ingested.")),
                ("chunk_count", models.PositiveIntegerField(default=0)),
                ("metadata", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-updated_at", "-id"], name="document_recent"),
                    models.Index(fields=["tenant", "checksum"], name="document_checksum"),
                    models.Index(
                        condition=models.Q(("user_id", ""), _negated=True),
                        fields=["tenant", "user_id"],
                        name="document_user",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("source", ""), _negated=True),
                        fields=("tenant", "project", "user_id", "source"),
                        name="document_source",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Procedure",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("version", models.CharField(max_length=64)),
                ("body", models.TextField()),
                ("checksum", models.CharField(help_text="SHA-256 of the body.", max_length=64)),
                ("metadata", models.JSONField(default=dict, help_text="What stood above the body.")),
                ("created_by", models.CharField(max_length=255)),
                ("created_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "name", "version"), name="procedure_version")
                ],
            },
        ),
        IsolateTable("knowledge_document"),
        IsolateTable("knowledge_chunk", references=[("document_id", "knowledge_document")]),
        IsolateTable("chunk_embeddings", references=[("chunk_id", "knowledge_chunk")]),
        # What agents may do is read them: whoever deploys one comes in by the admin role.
        IsolateTable("knowledge_procedure", grants=["SELECT"], admin_grants=["SELECT", "INSERT"]),
        IsolateTable(
            "knowledge_deployment",
            references=[("procedure_id", "knowledge_procedure")],
            grants=["SELECT"],
            admin_grants=["SELECT", "INSERT"],
        ),
    ]
