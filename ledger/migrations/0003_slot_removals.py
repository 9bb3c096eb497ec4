"""Slots that were removed with their history, and the decisions that wait for a slot."""

import django.db.models.deletion
import uuid_utils.compat
from django.db import migrations, models

from tenants.isolation import IsolateTable


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0002_decisions_and_feedback"),
        ("tenants", "0005_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="SlotRemoval",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid_utils.compat.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("subject", models.CharField(help_text="Pseudonym of the person.", max_length=64)),
                ("slot", models.CharField(help_text="HMAC of the person and the slot's key.", max_length=64)),
                ("removed_at", models.DateTimeField(help_text="The last time.")),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, to="tenants.tenant"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="slotremoval",
            constraint=models.UniqueConstraint(fields=("tenant", "subject", "slot"), name="removal_once"),
        ),
        migrations.AddIndex(
            model_name="writedecision",
            index=models.Index(
                fields=["tenant", "user_id", "key"], condition=models.Q(kind="entity"), name="decision_slot"
            ),
        ),
        IsolateTable("ledger_slotremoval"),
    ]
