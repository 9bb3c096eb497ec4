"""Memories that clients name by ids of their own, and date themselves."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0008_lists_of_the_console"),
        ("tenants", "0010_person_links"),
    ]

    operations = [
        migrations.AddField(
            model_name="episode",
            name="external_id",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The client's own id, if it gave one.",
                max_length=255,
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="extraction",
            field=models.JSONField(
                help_text="How it was taken from a conversation: strategy, config, from which turns.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="episode",
            name="persisted_at",
            field=models.DateTimeField(
                help_text="When it was stored, where clients say when it was created; null: at that moment.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="episode",
            constraint=models.UniqueConstraint(
                condition=models.Q(("external_id", ""), _negated=True),
                fields=("tenant", "external_id", "namespace", "user_id"),
                name="episode_external_id",
            ),
        ),
    ]
