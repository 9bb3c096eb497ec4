import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tenants", "0005_agents"),
        ("working", "0002_lifecycle"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="project_key",
            field=models.GeneratedField(
                db_persist=True,
                expression=django.db.models.functions.text.Lower("project"),
                output_field=models.TextField(),
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                fields=["tenant", "project_key", "-started_at", "-id"], name="session_project"
            ),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("summary", ""), _negated=True),
                fields=["tenant", "project_key", "-started_at", "-id"],
                name="session_project_summary",
            ),
        ),
    ]
