"""Why each item was told, where one memory was used, and how long recalls take."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0006_evaluation_runs"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.AddField(
            "injection",
            "rank",
            models.PositiveSmallIntegerField(help_text="Its place among what was found; 1: best.", null=True),
        ),
        migrations.AddField(
            "injection", "score", models.FloatField(help_text="By which it was ranked.", null=True)
        ),
        migrations.AddField(
            "injection",
            "why",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="How it came to be told, such as `recalled` or `bm25`.",
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            "injection",
            models.Index(fields=["tenant", "item_key", "-marked_at", "-id"], name="injection_item"),
        ),
        migrations.CreateModel(
            name="RecallHour",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("hour", models.DateTimeField(help_text="Its beginning.")),
                (
                    "buckets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="How many took at most each of `ledger.latency.BOUNDS`, and longer.",
                        size=None,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "hour"), name="recall_hour")],
            },
        ),
        IsolateTable("ledger_recallhour"),
    ]
