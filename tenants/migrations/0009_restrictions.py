"""People whose memory is restricted, and the function that the policies of other tables ask for them."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import TENANT_MATCHES, DefinerFunction, FreezeTable, IsolateTable


def frozen_function() -> DefinerFunction:
    """`tenants_frozen`: the users of the open scope's tenant that it does not show. Its plan is kept by the
    connection, and nothing of it is planned with the statement that asks."""
    return DefinerFunction(
        "tenants_frozen()",
        returns="text[]",
        language="plpgsql",
        parallel=True,
        reads=["tenants_restriction"],
        body=f"""
BEGIN
    IF current_setting('app.restricted', true) = 'shown' THEN
        RETURN '{{}}';
    END IF;
    RETURN ARRAY(SELECT r.user_id FROM public.tenants_restriction r WHERE r.tenant_id = {TENANT_MATCHES});
END""",  # noqa: S608
    )


class Migration(migrations.Migration):
    dependencies = [("tenants", "0008_append_only_audit")]

    operations = [
        migrations.CreateModel(
            name="Restriction",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_id", models.CharField(max_length=255)),
                ("since", models.DateTimeField()),
                ("requested_by", models.CharField(max_length=255)),
                ("reason", models.CharField(blank=True, max_length=1000)),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "-since", "-id"], name="restriction_since")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "user_id"), name="restriction_person")
                ],
            },
        ),
        IsolateTable("tenants_restriction"),
        frozen_function(),
        FreezeTable("tenants_storedanswer"),
    ]
