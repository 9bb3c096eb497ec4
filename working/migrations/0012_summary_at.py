"""When a session's summary last changed: whether a client that sends the session back has read it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("working", "0011_committed_events")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="summary_at",
            field=models.DateTimeField(
                help_text="When it last changed, as `changed_at` tells it; null: before that was noted.",
                null=True,
            ),
        ),
    ]
