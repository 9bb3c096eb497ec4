"""The index of KAOS's memory, built while others go on writing."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds none beside writers within a transaction
    dependencies = [("working", "0009_recorded_in")]

    operations = [
        AddIndexConcurrently(
            model_name="session",
            index=models.Index(
                fields=["tenant", "agent_id", "-last_activity_at"],
                condition=models.Q(let_go_at__isnull=True) | models.Q(last_seq__gt=models.F("let_go_seq")),
                name="session_known_to_kaos",
            ),
        ),
    ]
