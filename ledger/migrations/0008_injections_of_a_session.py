"""What one session was told, whether it counts still or not."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0007_usage_of_memories"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="injection",
            index=models.Index(fields=["tenant", "session", "-marked_at", "-id"], name="injection_session"),
        ),
    ]
