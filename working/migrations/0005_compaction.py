from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0005_agents"),
        ("working", "0004_message_count"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="compacted_seq",
            field=models.BigIntegerField(
                default=0, db_default=0, help_text="Newest event that windows leave to the summary."
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=["tenant", "last_activity_at", "id"],
                condition=models.Q(("last_seq__gt", models.F("summarised_seq"))),
                name="session_unsummarised",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["tenant", "recorded_at"], name="event_retention"),
        ),
    ]
