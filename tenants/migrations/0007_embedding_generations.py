"""Which embedding model each tenant is searched by."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_jobs_in_order")]

    operations = [
        migrations.CreateModel(
            name="TenantEmbedding",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("model", models.CharField(max_length=100)),
                ("other", models.CharField(blank=True, max_length=100)),
                (
                    "is_switched",
                    models.BooleanField(default=False, help_text="`model` has taken the place of `other`."),
                ),
                ("changed_at", models.DateTimeField()),
                (
                    "missing",
                    models.JSONField(
                        default=dict, help_text="How many vectors each model lacked, last looked at."
                    ),
                ),
                (
                    "refused",
                    models.JSONField(
                        default=dict,
                        help_text="By model and kind: digests of the items that it does not take, by id.",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant",), name="tenant_embedding")],
            },
        ),
        IsolateTable("tenants_tenantembedding"),
    ]
