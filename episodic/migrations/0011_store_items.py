"""Items of the store: JSON objects by namespace and key, each said by an episode."""

import django.db.models.deletion
import pgvector.django
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import FROZEN, FreezeTable, IsolateTable, not_frozen

# What nobody has put in a namespace that names a restricted person is as restricted. Labels are looked at
# only where there is such a person.
NOBODY_NAMED = "({told} OR cardinality({frozen}) = 0 OR nullif({labels}, true) IS NOT NULL)"
OF_NOBODY_NAMED = "{mine} AND {others}".format(
    mine=not_frozen("user_id"),
    others=NOBODY_NAMED.format(
        told="user_id <> ''", frozen=FROZEN, labels=f"string_to_array(path, '.') && {FROZEN}"
    ),
)
SAYS_OF_NOBODY_NAMED = "{mine} AND {others}".format(
    mine=not_frozen("user_id"),
    others=NOBODY_NAMED.format(
        told="user_id <> '' OR namespace <> 'store'",
        frozen=FROZEN,
        labels=f"coalesce(metadata -> 'namespace', '[]') ?| {FROZEN}",
    ),
)


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0010_summary_views"),
        ("tenants", "0010_person_links"),
    ]

    operations = [
        migrations.CreateModel(
            name="Item",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("project", models.CharField(blank=True, max_length=200)),
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of agent, project, namespace and key.", max_length=64
                    ),
                ),
                ("path", models.TextField(db_collation="C", help_text="The namespace: `a.b.` for a, b.")),
                ("key", models.TextField()),
                ("value", models.JSONField()),
                (
                    "fields",
                    models.JSONField(help_text="What of the value is indexed; null: all of it.", null=True),
                ),
                ("ttl_minutes", models.FloatField(null=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("valid_to", models.DateTimeField(help_text="The episode's.", null=True)),
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
                "db_table": "store_items",
                "indexes": [
                    models.Index(
                        fields=["tenant", "user_id", "agent_id", "project", "path"],
                        include=["id", "expires_at", "valid_to"],
                        name="item_path",
                    ),
                    models.Index(
                        fields=["tenant", "user_id", "agent_id", "project", "-updated_at", "-id"],
                        name="item_recent",
                    ),
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False)),
                        fields=["tenant", "expires_at"],
                        name="item_expiry",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "user_id", "digest"), name="item_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="ItemVector",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("item_id", models.UUIDField()),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("field", models.TextField(help_text="The path of the field, as the client names it.")),
                ("dimensions", models.PositiveIntegerField()),
                ("embedding", pgvector.django.VectorField()),
                ("created_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "store_vectors",
                "indexes": [
                    models.Index(fields=["tenant", "item_id"], name="item_vector"),
                    models.Index(fields=["tenant", "user_id"], name="item_vector_user"),
                ],
            },
        ),
        IsolateTable("store_items", references=[("id", "agent_episodes")]),
        IsolateTable("store_vectors", references=[("item_id", "store_items")]),
        FreezeTable("store_items", rows=OF_NOBODY_NAMED),
        FreezeTable("store_vectors"),
        FreezeTable("agent_episodes", rows=SAYS_OF_NOBODY_NAMED, before=not_frozen("user_id")),
    ]
