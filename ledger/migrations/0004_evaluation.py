"""Queries that recall is measured with; which setting of a trial told a memory, and for which query."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


def _variant():
    return models.CharField(
        blank=True,
        db_default="",
        default="",
        help_text="Of a trial: the setting that recalled it.",
        max_length=16,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0003_slot_removals"),
        ("tenants", "0006_jobs_in_order"),
    ]

    operations = [
        migrations.AddField("feedback", "variant", _variant()),
        migrations.AddField("injection", "variant", _variant()),
        migrations.AddField(
            "injection",
            "asked",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="HMAC of the query that it was told for.",
                max_length=64,
            ),
        ),
        migrations.CreateModel(
            name="EvaluationQuery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "user_id",
                    models.CharField(blank=True, help_text="Whose memories are asked for.", max_length=255),
                ),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("project", models.CharField(blank=True, max_length=200)),
                (
                    "session",
                    models.CharField(blank=True, help_text="The client's own session id.", max_length=255),
                ),
                ("text", models.CharField(max_length=2000)),
                (
                    "relevant",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        default=list,
                        help_text="Ids of episodes; none: unlabelled.",
                        size=None,
                    ),
                ),
                (
                    "source",
                    models.CharField(choices=[("sampled", "Sampled"), ("saved", "Saved")], max_length=16),
                ),
                (
                    "turn_id",
                    models.UUIDField(help_text="Of a sampled one: the turn that it was.", null=True),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "evaluation queries",
                "db_table": "evaluation_queries",
                "indexes": [
                    models.Index(fields=["tenant", "-created_at", "-id"], name="evaluation_recent"),
                    models.Index(fields=["tenant", "user_id", "-created_at", "-id"], name="evaluation_user"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "turn_id"), name="evaluation_turn")
                ],
            },
        ),
        IsolateTable("evaluation_queries"),
    ]
