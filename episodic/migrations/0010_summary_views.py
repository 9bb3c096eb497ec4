"""Summary views, their summaries, and the runs that make them."""

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import FROZEN, FreezeTable, IsolateTable, not_frozen

# Of several people's memories: nobody sees what a restricted person's were part of.
OF_NOBODY_FROZEN = f"{not_frozen('user_id')} AND NOT users && {FROZEN}"


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0009_records_of_clients"),
        ("tenants", "0010_person_links"),
    ]

    operations = [
        migrations.CreateModel(
            name="SummaryView",
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
                ("name", models.CharField(blank=True, max_length=255)),
                (
                    "source",
                    models.CharField(
                        default="long_term", help_text="Long-term memory, so far.", max_length=16
                    ),
                ),
                (
                    "group_by",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=16),
                        default=list,
                        help_text="Fields of a record.",
                        size=None,
                    ),
                ),
                ("filters", models.JSONField(default=dict, help_text="As the client sent them.")),
                (
                    "tests",
                    models.JSONField(default=list, help_text="The same as tests: field, operator, value."),
                ),
                (
                    "time_window_days",
                    models.PositiveIntegerField(help_text="Null: records of any age.", null=True),
                ),
                (
                    "continuous",
                    models.BooleanField(default=False, help_text="Whether the clock refreshes it."),
                ),
                ("prompt", models.TextField(blank=True, help_text="What the reader wants of a summary.")),
                (
                    "model_name",
                    models.CharField(blank=True, help_text="As the client sent it.", max_length=255),
                ),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("created_by", models.CharField(max_length=255)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "summary_views",
                "indexes": [
                    models.Index(fields=["tenant", "-created_at", "-id"], name="summary_view_recent"),
                    models.Index(
                        condition=models.Q(("continuous", True)),
                        fields=["tenant", "id"],
                        name="summary_view_continuous",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SummaryPartition",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("view_id", models.UUIDField()),
                (
                    "user_id",
                    models.CharField(blank=True, help_text="Whose memory alone it tells of.", max_length=255),
                ),
                (
                    "users",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="Of whose memories it was made.",
                        size=None,
                    ),
                ),
                ("group", models.JSONField(help_text="The values of the fields that the view groups by.")),
                ("summary", models.TextField(blank=True)),
                ("memory_count", models.PositiveIntegerField(help_text="Records that it was made of.")),
                (
                    "empty_reason",
                    models.CharField(blank=True, help_text="Why there are none.", max_length=255),
                ),
                (
                    "model",
                    models.CharField(
                        blank=True, help_text="Who wrote it; empty: this server.", max_length=255
                    ),
                ),
                ("prompt_id", models.CharField(blank=True, max_length=64)),
                (
                    "fingerprint",
                    models.CharField(
                        blank=True,
                        help_text="Of what it was made; empty: it is to be made again.",
                        max_length=64,
                    ),
                ),
                ("oldest_at", models.DateTimeField(help_text="When the oldest of its records was created.")),
                (
                    "passing",
                    models.JSONField(
                        default=list,
                        help_text="By agent, the oldest of those that retention takes: `agent_id`, `since`.",
                    ),
                ),
                ("computed_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "summary_partitions",
                "indexes": [
                    models.Index(
                        fields=["tenant", "view_id", "-computed_at"], name="summary_partition_of_view"
                    ),
                    models.Index(
                        condition=models.Q(("user_id", ""), _negated=True),
                        fields=["tenant", "user_id"],
                        name="summary_partition_user",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SummaryRun",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("view_id", models.UUIDField()),
                ("job_id", models.UUIDField()),
                ("task_id", models.CharField(help_text="The client's own id, or the job's.", max_length=255)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("project", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "summary_runs",
                "indexes": [
                    models.Index(fields=["tenant", "job_id"], name="summary_run_job"),
                    models.Index(fields=["tenant", "created_at"], name="summary_run_age"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "task_id", "user_id", "agent_id", "project"),
                        name="summary_run_task",
                    )
                ],
            },
        ),
        IsolateTable("summary_views"),
        IsolateTable("summary_partitions", references=[("view_id", "summary_views")]),
        IsolateTable("summary_runs"),
        FreezeTable("summary_views"),
        FreezeTable("summary_partitions", rows=OF_NOBODY_FROZEN),
        FreezeTable("summary_runs"),
    ]
