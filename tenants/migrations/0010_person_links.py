"""Until when links to people's own pages are void, and an index for the count of those that a person has.

Whoever was erased before has links from then no more.
"""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable

OF_THE_ERASED = """
INSERT INTO tenants_linkrevocation (id, tenant_id, subject, void_until)
SELECT gen_random_uuid(), tenant_id, subject, max(erased_at) FROM tenants_tombstone GROUP BY tenant_id, subject
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0009_restrictions")]

    operations = [
        migrations.CreateModel(
            name="LinkRevocation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("subject", models.CharField(help_text="HMAC of the user id.", max_length=64)),
                ("void_until", models.DateTimeField(help_text="By PostgreSQL's clock.")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "subject"), name="link_revocation_subject")
                ],
            },
        ),
        IsolateTable("tenants_linkrevocation"),
        migrations.RunSQL(OF_THE_ERASED, migrations.RunSQL.noop),
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(action="subject.link"),
                fields=["tenant", "target", "-at"],
                name="audit_person_links",
            ),
        ),
    ]
