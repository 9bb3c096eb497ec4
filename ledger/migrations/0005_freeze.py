"""What restricted people were told, and what was decided about them, is neither read nor changed."""

from django.db import migrations

from tenants.isolation import FreezeTable


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0004_evaluation"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        FreezeTable("ledger_injection"),
        FreezeTable("ledger_writedecision"),
        FreezeTable("ledger_feedback"),
        FreezeTable("evaluation_queries"),
    ]
