"""Webhooks and what they were told."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import FreezeTable, IsolateTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("webhook_id", models.UUIDField()),
                ("event_id", models.UUIDField(help_text="The same for each webhook and attempt.")),
                (
                    "event",
                    models.CharField(
                        choices=[
                            ("memory.created", "Created"),
                            ("memory.updated", "Updated"),
                            ("memory.retracted", "Retracted"),
                            ("memory.erased", "Erased"),
                            ("subject.erased", "Subject Erased"),
                            ("webhook.test", "Test"),
                        ],
                        max_length=32,
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("episode", "Episode"),
                            ("entity", "Entity"),
                            ("observation", "Observation"),
                            ("document", "Document"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "memory_id",
                    models.CharField(
                        blank=True, help_text="Of the one memory that it tells of.", max_length=64
                    ),
                ),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("data", models.JSONField(help_text="What is told.")),
                (
                    "has_text",
                    models.BooleanField(
                        default=False, help_text="Whether that is what the memory says, too."
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="pending",
                        max_length=9,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("due_at", models.DateTimeField(help_text="Of one that is pending: not sent before.")),
                ("last_status", models.PositiveIntegerField(help_text="The answer's.", null=True)),
                ("last_error", models.CharField(blank=True, max_length=200)),
                ("latency_ms", models.PositiveIntegerField(help_text="Of the last attempt.", null=True)),
                ("created_at", models.DateTimeField()),
                ("delivered_at", models.DateTimeField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["tenant", "webhook_id", "due_at"],
                        name="delivery_due",
                    ),
                    models.Index(fields=["tenant", "-id"], name="delivery_recent"),
                    models.Index(fields=["tenant", "webhook_id", "-id"], name="delivery_of_webhook"),
                    models.Index(fields=["tenant", "created_at"], name="delivery_age"),
                    models.Index(
                        condition=models.Q(("user_id", ""), _negated=True),
                        fields=["tenant", "user_id"],
                        name="delivery_user",
                    ),
                    models.Index(
                        condition=models.Q(("has_text", True)),
                        fields=["tenant", "memory_id"],
                        name="delivery_text",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("url", models.CharField(max_length=2000)),
                ("description", models.CharField(blank=True, max_length=500)),
                (
                    "events",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=32), help_text="Of these only.", size=None
                    ),
                ),
                (
                    "kinds",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=16),
                        default=list,
                        help_text="None: of all.",
                        size=None,
                    ),
                ),
                (
                    "agent_id",
                    models.CharField(
                        blank=True, help_text="Of this agent's only; empty: of all.", max_length=255
                    ),
                ),
                (
                    "project",
                    models.CharField(
                        blank=True, help_text="Of this one's only; empty: of all.", max_length=200
                    ),
                ),
                (
                    "include_text",
                    models.BooleanField(default=False, help_text="Whether it is told what the memory says."),
                ),
                ("is_active", models.BooleanField(default=True)),
                (
                    "secret_version",
                    models.PositiveIntegerField(default=1, help_text="Counts the secrets it has had."),
                ),
                (
                    "rotated_at",
                    models.DateTimeField(help_text="When it got the present one; null: at first.", null=True),
                ),
                (
                    "failures",
                    models.PositiveIntegerField(
                        default=0, help_text="Attempts that failed since one succeeded."
                    ),
                ),
                (
                    "resume_at",
                    models.DateTimeField(help_text="Nothing is sent before, since it failed.", null=True),
                ),
                ("disabled_at", models.DateTimeField(null=True)),
                ("disabled_reason", models.CharField(blank=True, max_length=200)),
                ("created_by", models.CharField(max_length=255)),
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
                "indexes": [models.Index(fields=["tenant", "-created_at", "-id"], name="webhook_recent")],
            },
        ),
        IsolateTable("webhooks_delivery"),
        IsolateTable("webhooks_webhook"),
        FreezeTable("webhooks_delivery"),
    ]
