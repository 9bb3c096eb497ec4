"""The index of live events, built while others go on writing: alone, so that it can be built again."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # PostgreSQL builds none beside writers within a transaction
    dependencies = [("working", "0010_known_to_kaos")]

    operations = [
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(fields=["tenant", "recorded_in", "session_id", "seq"], name="event_committed"),
        ),
    ]
