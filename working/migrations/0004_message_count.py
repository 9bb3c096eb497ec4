from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("working", "0003_projects"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="message_count",
            field=models.BigIntegerField(
                help_text="How many the transcript had that it ended with; null: it came without one.",
                null=True,
            ),
        ),
    ]
