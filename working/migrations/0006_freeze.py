"""Restricted people's sessions, with their events and checkpoints, are neither read nor changed."""

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, FreezeTable

# Runs as whoever asks, so the policies of sessions say which are seen.
SEES_SESSION = f"""
CREATE OR REPLACE FUNCTION working_sees_session(wanted uuid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $function$
BEGIN
    RETURN EXISTS (
        SELECT FROM public.working_session s WHERE s.tenant_id = {TENANT_MATCHES} AND s.id = wanted);
END $function$
"""
# While nobody of the tenant is restricted, nothing is asked for a row.
OF_SEEN_SESSION = (
    "CASE WHEN (SELECT cardinality(public.tenants_frozen()) = 0) THEN true"
    " WHEN public.working_sees_session(session_id) THEN true END IS NOT NULL"
)


class Migration(migrations.Migration):
    dependencies = [
        ("working", "0005_compaction"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        migrations.RunSQL(SEES_SESSION, "DROP FUNCTION IF EXISTS working_sees_session(uuid)"),
        FreezeTable("working_session"),
        FreezeTable("chat_events", rows=OF_SEEN_SESSION),
        FreezeTable("working_checkpoint", rows=OF_SEEN_SESSION),
    ]
