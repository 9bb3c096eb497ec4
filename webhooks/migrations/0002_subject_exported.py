"""Webhooks can be told that an export is ready."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_webhooks")]

    operations = [
        migrations.AlterField(
            model_name="delivery",
            name="event",
            field=models.CharField(
                choices=[
                    ("memory.created", "Created"),
                    ("memory.updated", "Updated"),
                    ("memory.retracted", "Retracted"),
                    ("memory.erased", "Erased"),
                    ("subject.erased", "Subject Erased"),
                    ("subject.exported", "Subject Exported"),
                    ("webhook.test", "Test"),
                ],
                max_length=32,
            ),
        ),
    ]
