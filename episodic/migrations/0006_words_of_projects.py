"""Words are counted within a project too, so that no score tells a key that is bound to one of others."""

from importlib import import_module

from django.db import migrations

from tenants.isolation import TENANT_MATCHES, DefinerFunction, DropFunction

former = import_module("episodic.migrations.0003_words")


def count_function() -> DefinerFunction:
    """`episodes_count`: in how many episodes each term stands, in the order of the terms."""
    return DefinerFunction(
        "episodes_count(terms tsquery[], whose text, of_agent text, of_project text)",
        returns="SETOF bigint",
        language="plpgsql",
        reads=["episode_search", "agent_episodes"],
        body=f"""
DECLARE one tsquery; further text := '';
BEGIN
    IF of_project IS NOT NULL THEN
        further := 'AND EXISTS (SELECT 1 FROM agent_episodes e
                                WHERE e.tenant_id = s.tenant_id AND e.id = s.id AND e.project = $4)';
    END IF;
    FOREACH one IN ARRAY terms LOOP
        RETURN QUERY EXECUTE $sql$
            SELECT count(*) FROM episode_search s
            WHERE s.lexemes @@ $1 AND (s.tenant_id = {TENANT_MATCHES}) IS TRUE
              AND ($2 IS NULL OR s.user_id = $2) AND ($3 IS NULL OR s.agent_id = $3) $sql$ || further
        USING one, whose, of_agent, of_project;
    END LOOP;
END""",  # noqa: S608
    )


class Migration(migrations.Migration):
    dependencies = [("episodic", "0005_signatures")]

    operations = [count_function(), DropFunction(former.count_function())]
