import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    """What is declared of agents: memory and tool hooks."""

    dependencies = [("tenants", "0004_identity")]

    operations = [
        migrations.CreateModel(
            name="Agent",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="The `agent_id` of its keys, sessions and policy.", max_length=255
                    ),
                ),
                (
                    "project",
                    models.CharField(help_text="As the spec names it, in lower case.", max_length=200),
                ),
                ("spec", models.JSONField(help_text="The validated document, with its defaults.")),
                ("version", models.PositiveIntegerField(default=1, help_text="Counts its changes.")),
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
                "indexes": [models.Index(fields=["tenant", "project"], name="agent_project")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="agent_name")],
            },
        ),
        IsolateTable("tenants_agent"),
    ]
