"""When episodes were recalled."""

import django.db.models.deletion
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0003_words"),
        ("tenants", "0006_jobs_in_order"),
    ]

    operations = [
        migrations.CreateModel(
            name="EpisodeAccess",
            fields=[
                ("id", models.UUIDField(primary_key=True, serialize=False)),
                ("user_id", models.CharField(blank=True, max_length=255)),
                ("agent_id", models.CharField(blank=True, max_length=255)),
                ("last_accessed_at", models.DateTimeField()),
                ("access_count", models.PositiveBigIntegerField(default=1)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "db_table": "episode_access",
                "indexes": [
                    models.Index(
                        fields=["tenant", "user_id", "-last_accessed_at"], name="episode_access_user"
                    ),
                    models.Index(
                        fields=["tenant", "agent_id", "-last_accessed_at"], name="episode_access_agent"
                    ),
                ],
            },
        ),
        IsolateTable("episode_access", references=[("id", "agent_episodes")]),
    ]
