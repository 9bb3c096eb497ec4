"""How the first and the last run of a saved query went."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_freeze")]

    operations = [
        migrations.AddField(
            "evaluationquery",
            "first_run",
            models.JSONField(null=True, help_text="How its first run went; null: it was never run."),
        ),
        migrations.AddField(
            "evaluationquery", "last_run", models.JSONField(null=True, help_text="And its last one.")
        ),
    ]
