"""What webhooks are told of a memory that nobody has, and that is kept under a person's name, is the person's."""

import django.contrib.postgres.fields
from django.db import migrations, models

from tenants.isolation import FROZEN, FreezeTable, not_frozen

OF_NOBODY_NAMED = (
    f"{not_frozen('user_id')} AND (names IS NULL OR nullif(names && {FROZEN}, true) IS NOT NULL)"
)


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0002_subject_exported")]

    operations = [
        migrations.AddField(
            model_name="delivery",
            name="names",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(),
                help_text=(
                    "Of a memory of nobody's: the names under which it is kept; whom one names, it is about."
                ),
                null=True,
                size=None,
            ),
        ),
        FreezeTable("webhooks_delivery", rows=OF_NOBODY_NAMED, before=not_frozen("user_id")),
    ]
