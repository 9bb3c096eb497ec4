"""The function that counts what was written, day by day."""

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, DefinerFunction

DAYS = """
SELECT jsonb_object_agg(day, count) FROM (
    SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS count FROM public.{table}
    WHERE tenant_id = {tenant} AND created_at >= $1 AND created_at < $2{which} GROUP BY 1) AS days
"""
# Read from the indexes alone: to whom a memory belongs, which the app role's policy asks, stands in none. The
# numbers tell of restricted people no more than of others.
WRITTEN = DefinerFunction(
    "memories_written(since timestamptz, until timestamptz)",
    returns="jsonb",
    body=f"""
SELECT jsonb_build_object(
    'episode', ({DAYS.format(table="agent_episodes", tenant=TENANT_MATCHES, which="")}),
    'observation', ({
        DAYS.format(table="observations_observation", tenant=TENANT_MATCHES, which=" AND deleted_at IS NULL")
    })
) LIMIT 1""",
    reads=["agent_episodes", "observations_observation"],
)


class Migration(migrations.Migration):
    dependencies = [
        ("ledger", "0008_injections_of_a_session"),
        ("episodic", "0007_freeze"),
        ("observations", "0003_freeze"),
    ]

    operations = [WRITTEN]
