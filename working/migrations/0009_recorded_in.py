"""The transaction that wrote an event, for those who are told of events as they are committed."""

from django.db import migrations

import working.transaction_ids


class Migration(migrations.Migration):
    dependencies = [("working", "0008_let_go")]

    operations = [
        # Events that are there get the id of this transaction, which the catalogue keeps: no row is written.
        migrations.AddField(
            model_name="event",
            name="recorded_in",
            field=working.transaction_ids.TransactionIdField(
                db_default=working.transaction_ids.CurrentTransaction(),
                editable=False,
                help_text="The transaction that wrote it, or that of the event before it, if that is the later one.",
            ),
        ),
    ]
