"""Jobs of one person that are done one after the other, as they were recorded."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0005_agents")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["tenant", "user_id", "kind", "id"],
                condition=models.Q(slow=True, state__in=("queued", "running")),
                name="job_in_order",
            ),
        ),
    ]
