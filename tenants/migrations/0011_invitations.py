"""Links by which people become members."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [("tenants", "0010_person_links")]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("viewer", "Viewer"),
                            ("editor", "Editor"),
                            ("privacy_officer", "Privacy Officer"),
                            ("admin", "Admin"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True, help_text="For whom, as its maker would know.", max_length=200
                    ),
                ),
                ("secret_hash", models.CharField(max_length=64)),
                (
                    "created_by",
                    models.CharField(
                        help_text="`member:<user name>`, while they are an admin.", max_length=255
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
        ),
        # As with members and keys: whoever makes one comes in by the admin role.
        IsolateTable("tenants_invitation", grants=["SELECT"]),
    ]
