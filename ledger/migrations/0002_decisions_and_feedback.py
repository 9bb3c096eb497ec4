import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0001_injections"),
        ("tenants", "0005_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="Feedback",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_id", models.CharField(blank=True, help_text="Whose memory it is.", max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("project", models.CharField(blank=True, max_length=200)),
                (
                    "session",
                    models.CharField(blank=True, help_text="The client's own session id.", max_length=255),
                ),
                (
                    "kind",
                    models.CharField(help_text="Of the memory: episode, entity, observation.", max_length=16),
                ),
                ("memory_id", models.CharField(max_length=64)),
                (
                    "injection_id",
                    models.UUIDField(help_text="The injection that was judged, if one was named.", null=True),
                ),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("helpful", "Helpful"),
                            ("not_helpful", "Not Helpful"),
                            ("harmful", "Harmful"),
                        ],
                        max_length=16,
                    ),
                ),
                ("note", models.CharField(blank=True, max_length=1000)),
                ("judge", models.CharField(help_text="Who says so: the caller.", max_length=255)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "feedback",
            },
        ),
        migrations.CreateModel(
            name="WriteDecision",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("project", models.CharField(blank=True, max_length=200)),
                (
                    "session",
                    models.CharField(blank=True, help_text="The client's own session id.", max_length=255),
                ),
                (
                    "kind",
                    models.CharField(
                        help_text="What it would have been: entity, episode, observation.", max_length=16
                    ),
                ),
                ("key", models.CharField(blank=True, help_text="Of an entity: its slot.", max_length=255)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("skipped", "Skipped"),
                            ("held", "Held"),
                            ("confirmed", "Confirmed"),
                            ("rejected", "Rejected"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "reason",
                    models.CharField(help_text="Such as `low_confidence` or `blocklist`.", max_length=32),
                ),
                ("findings", models.JSONField(default=list, help_text="What a blocklist found: its kinds.")),
                (
                    "text",
                    models.CharField(blank=True, help_text="The beginning, secrets masked.", max_length=500),
                ),
                ("confidence", models.FloatField(null=True)),
                (
                    "held",
                    models.JSONField(
                        help_text="What is written on confirmation; null: it was not kept.", null=True
                    ),
                ),
                (
                    "memory_id",
                    models.CharField(blank=True, help_text="What it became once confirmed.", max_length=64),
                ),
                (
                    "decided_by",
                    models.CharField(blank=True, help_text="Who confirmed or rejected it.", max_length=255),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.AddIndex(
            model_name="injection",
            index=models.Index(fields=["tenant", "-marked_at", "-id"], name="injection_recent"),
        ),
        migrations.AddIndex(
            model_name="injection",
            index=models.Index(fields=["tenant", "user_id", "-marked_at", "-id"], name="injection_user"),
        ),
        migrations.AddField(
            model_name="feedback",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
            ),
        ),
        migrations.AddField(
            model_name="writedecision",
            name="tenant",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
            ),
        ),
        migrations.AddIndex(
            model_name="feedback",
            index=models.Index(fields=["tenant", "-created_at"], name="feedback_recent"),
        ),
        migrations.AddIndex(
            model_name="feedback",
            index=models.Index(fields=["tenant", "user_id"], name="feedback_user"),
        ),
        migrations.AddConstraint(
            model_name="feedback",
            constraint=models.UniqueConstraint(
                fields=("tenant", "kind", "memory_id", "judge", "session"), name="feedback_once"
            ),
        ),
        migrations.AddIndex(
            model_name="writedecision",
            index=models.Index(fields=["tenant", "-created_at", "-id"], name="decision_recent"),
        ),
        migrations.AddIndex(
            model_name="writedecision",
            index=models.Index(fields=["tenant", "user_id", "-created_at", "-id"], name="decision_user"),
        ),
        IsolateTable("ledger_writedecision"),
        IsolateTable("ledger_feedback"),
    ]
