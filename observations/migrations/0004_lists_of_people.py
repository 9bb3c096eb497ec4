"""What serves the lists that people look through; and of what another observation a revision is."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("observations", "0003_freeze"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.AddField(
            model_name="observationrevision",
            name="merged_from",
            field=models.BigIntegerField(help_text="Of which other observation this is the text.", null=True),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", True)),
                fields=["tenant", "-updated_at", "-id"],
                name="observation_updated",
            ),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", True)),
                fields=["tenant", "type", "-created_at", "-id"],
                name="observation_type",
            ),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", True)),
                fields=["tenant", "agent_id", "-created_at", "-id"],
                name="observation_agent",
            ),
        ),
        migrations.AddIndex(
            model_name="observation",
            index=models.Index(
                condition=models.Q(("deleted_at__isnull", True)),
                fields=["tenant", "session", "-created_at", "-id"],
                name="observation_session",
            ),
        ),
    ]
