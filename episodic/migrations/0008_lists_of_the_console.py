"""Indexes for what the lists may be filtered by."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0007_freeze"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(fields=["tenant", "key", "-updated_at", "-id"], name="entity_key"),
        ),
        migrations.AddIndex(
            model_name="entity",
            index=models.Index(
                condition=models.Q(("status", "pending")),
                fields=["tenant", "-updated_at", "-id"],
                name="entity_waiting",
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("pinned_at__isnull", False)),
                fields=["tenant", "-created_at", "-id"],
                name="episode_pinned",
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("project", ""), _negated=True),
                fields=["tenant", "project", "-created_at", "-id"],
                name="episode_project",
            ),
        ),
        migrations.AddIndex(
            model_name="episode",
            index=models.Index(
                condition=models.Q(("superseded_by__isnull", False)),
                fields=["tenant", "superseded_by"],
                name="episode_superseded",
            ),
        ),
    ]
