import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django.vector
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0001_episodes"),
        ("tenants", "0005_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Entity",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_id", models.CharField(max_length=255)),
                ("key", models.CharField(max_length=255)),
                ("value", models.JSONField()),
                ("confidence", models.FloatField(help_text="From 0 to 1.")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("current", "Current"),
                            ("pending", "Pending"),
                            ("superseded", "Superseded"),
                            ("retracted", "Retracted"),
                        ],
                        default="current",
                        max_length=16,
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        blank=True, help_text="Who says so: `api`, `rules`, `llm`, …", max_length=64
                    ),
                ),
                (
                    "agent_id",
                    models.CharField(blank=True, help_text="The agent that wrote it.", max_length=255),
                ),
                (
                    "source_session",
                    models.CharField(blank=True, help_text="The client's own session id.", max_length=255),
                ),
                (
                    "source_turn",
                    models.BigIntegerField(help_text="Number of the turn in that session.", null=True),
                ),
                ("valid_from", models.DateTimeField()),
                (
                    "valid_to",
                    models.DateTimeField(
                        help_text="When it ceased to hold; null: it holds, or waits.", null=True
                    ),
                ),
                (
                    "superseded_by",
                    models.UUIDField(help_text="The row with the value that came after.", null=True),
                ),
                (
                    "pinned_at",
                    models.DateTimeField(
                        help_text="What is extracted does not replace a pinned value.", null=True
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("embed_pending", models.BooleanField(default=True)),
            ],
            options={
                "verbose_name_plural": "entities",
                "db_table": "user_entities",
            },
        ),
        migrations.CreateModel(
            name="EntityEmbedding",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("entity_id", models.UUIDField()),
                ("user_id", models.CharField(max_length=255)),
                ("model", models.CharField(max_length=100)),
                ("embedding", pgvector.django.vector.VectorField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "db_table": "entity_embeddings",
            },
        ),
        migrations.CreateModel(
            name="EpisodeRevision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("episode_id", models.UUIDField()),
                ("number", models.PositiveIntegerField(help_text="1, 2, 3 …: the oldest is 1.")),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("text", models.TextField()),
                (
                    "topics",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "entities",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                ("outcome", models.TextField(blank=True)),
                ("event_date", models.DateTimeField(null=True)),
                ("metadata", models.JSONField(default=dict)),
                ("replaced_at", models.DateTimeField()),
                (
                    "replaced_by",
                    models.CharField(help_text="Whose change it was: the caller.", max_length=255),
                ),
            ],
            options={
                "db_table": "episode_revisions",
            },
        ),
        migrations.AddField(
            model_name="episode",
            name="content_hash",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="SHA-256 of the text without its case and spacing.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="pinned_at",
            field=models.DateTimeField(help_text="Retention passes a pinned episode by.", null=True),
        ),
        migrations.AddField(
            model_name="episode",
            name="superseded_by",
            field=models.UUIDField(help_text="The episode that says what holds instead.", null=True),
        ),
        migrations.AddField(
            model_name="episode",
            name="updated_at",
            field=models.DateTimeField(help_text="When somebody last edited it.", null=True),
        ),
        migrations.AddField(
            model_name="episode",
            name="valid_from",
            field=models.DateTimeField(help_text="Null: since it was written.", null=True),
        ),
        migrations.AddField(
            model_name="episode",
            name="valid_to",
            field=models.DateTimeField(help_text="When it ceased to hold; null: it holds.", null=True),
        ),
        migrations.AddField(
            model_name="episode",
            name="version",
            field=models.PositiveIntegerField(
                db_default=1, default=1, help_text="Counts what was done to it: the entity tag."
            ),
        ),
        migrations.AddField(
            model_name="episodeembedding",
            name="valid_to",
            field=models.DateTimeField(help_text="The episode's.", null=True),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("content_hash", ""), _negated=True),
                fields=["tenant", "user_id", "content_hash"],
                name="episode_content",
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(
                    ("memory_type", "message"), ("origin", "session"), ("valid_to__isnull", True)
                ),
                fields=["tenant", "id"],
                name="episode_open_turn",
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("origin", "session"), ("pinned_at__isnull", True)),
                fields=["tenant", "created_at"],
                name="episode_retention",
            ),
        ),
        migrations.AddField(
            model_name="entity",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
            ),
        ),
        migrations.AddField(
            model_name="entityembedding",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
            ),
        ),
        migrations.AddField(
            model_name="episoderevision",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
            ),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(
                fields=["tenant", "user_id", "key", "-valid_from", "-id"], name="entity_history"
            ),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(fields=["tenant", "-updated_at", "-id"], name="entity_recent"),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(
                condition=models.Q(("embed_pending", True)),
                fields=["tenant", "id"],
                name="entity_embed_pending",
            ),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "current")),
                fields=("tenant", "user_id", "key"),
                name="entity_current",
            ),
        ),
        migrations.AddConstraint(
            model_name="entity",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "pending")),
                fields=("tenant", "user_id", "key"),
                name="entity_pending",
            ),
        ),
        migrations.AddIndex(
            model_name="entityembedding",
            index=models.Index(fields=["tenant", "user_id", "model"], name="entity_embedding_user"),
        ),
        migrations.AddConstraint(
            model_name="entityembedding",
            constraint=models.UniqueConstraint(
                fields=("tenant", "entity_id", "model"), name="entity_embedding_model"
            ),
        ),
        migrations.AddIndex(
            model_name="episoderevision",
            index=models.Index(fields=["tenant", "user_id"], name="episode_revision_user"),
        ),
        migrations.AddConstraint(
            model_name="episoderevision",
            constraint=models.UniqueConstraint(
                fields=("tenant", "episode_id", "number"), name="episode_revision_number"
            ),
        ),
        IsolateTable("user_entities"),
        IsolateTable("entity_embeddings", references=[("entity_id", "user_entities")]),
        IsolateTable("episode_revisions", references=[("episode_id", "agent_episodes")]),
    ]
