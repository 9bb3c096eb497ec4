"""What clients keep with a session that they send as a whole; turns that they leave out of it."""

from importlib import import_module

import django.contrib.postgres.fields
import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import FreezeTable, IsolateTable

former = import_module("working.migrations.0006_freeze")


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0010_person_links"),
        ("working", "0006_freeze"),
    ]

    operations = [
        migrations.CreateModel(
            name="SessionState",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("session_id", models.UUIDField()),
                (
                    "data",
                    models.JSONField(
                        help_text="Any JSON by name; answers when the hash in Redis has expired. Null: none.",
                        null=True,
                    ),
                ),
                (
                    "memories",
                    models.JSONField(
                        default=list,
                        help_text="Records to be remembered, as they came, each with what became of it.",
                    ),
                ),
                (
                    "strategy",
                    models.JSONField(
                        default=dict, help_text="How memories are extracted: strategy and config."
                    ),
                ),
                ("tokens", models.BigIntegerField(default=0, help_text="As the client says.")),
                (
                    "ttl_seconds",
                    models.IntegerField(
                        help_text="Its hold from its last change on; null: for good.", null=True
                    ),
                ),
                (
                    "expires_at",
                    models.DateTimeField(help_text="When it is forgotten; null: never.", null=True),
                ),
                (
                    "stamps",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.DateTimeField(),
                        default=list,
                        help_text="The newest moments of change that clients were told.",
                        size=None,
                    ),
                ),
                (
                    "extracted_seq",
                    models.BigIntegerField(
                        default=0, help_text="Newest event that was looked at for memories."
                    ),
                ),
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
                "db_table": "working_state",
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "session_id"), name="state_session")
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False)),
                        fields=["tenant", "expires_at"],
                        name="state_expires",
                    )
                ],
            },
        ),
        IsolateTable("working_state", references=[("session_id", "working_session")]),
        FreezeTable("working_state", rows=former.OF_SEEN_SESSION),
        migrations.AddField(
            model_name="session",
            name="lead",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                help_text="What a client has set as the summary: it begins so.",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="lead_seq",
            field=models.BigIntegerField(
                db_default=0, default=0, help_text="Newest event that was summarised when it was set."
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="began_whole",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A client that sends it as a whole began it: its hold is the deployment's.",
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="changed_at",
            field=models.DateTimeField(
                help_text="Of its last change of turns, summary or state: no two have the same. Null: none yet.",
                null=True,
            ),
        ),
        migrations.RemoveConstraint(model_name="event", name="event_external_id"),
        migrations.AddField(
            model_name="event",
            name="withdrawn_at",
            field=models.DateTimeField(
                help_text="When a client that sends its turns as a whole left it out: no window has it.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="role",
            field=models.CharField(
                blank=True,
                help_text="Of a turn: user, assistant, system, tool, or a client's own.",
                max_length=64,
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id__isnull", False), ("withdrawn_at__isnull", True)),
                fields=("tenant", "session_id", "external_id"),
                name="event_external_id",
            ),
        ),
    ]
