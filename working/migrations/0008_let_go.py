"""What KAOS's bounded memory has let go of, of sessions whose log goes on."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("working", "0007_states")]

    operations = [
        migrations.AddField(
            model_name="session",
            name="let_go_seq",
            field=models.BigIntegerField(
                default=0, db_default=0, help_text="Newest event that KAOS's memory has let go of."
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="let_go_at",
            field=models.DateTimeField(
                help_text="When KAOS's memory let it go; it knows it again from the next event on.", null=True
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="emptied_at",
            field=models.DateTimeField(
                help_text="When a client of KAOS put an empty one in its place; null: never.", null=True
            ),
        ),
        migrations.AddField(
            model_name="session",
            name="placed_at",
            field=models.DateTimeField(
                help_text="Since when that has its place among KAOS's sessions.", null=True
            ),
        ),
    ]
