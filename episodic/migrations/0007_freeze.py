"""What restricted people's episodes and slots say is neither read nor changed."""

from importlib import import_module

from django.db import migrations

from tenants.isolation import DefinerFunction, FreezeTable, not_frozen

former = import_module("episodic.migrations.0003_words")


def find_function() -> DefinerFunction:
    """`episodes_find` as before, less what is restricted: it sees past the policies."""
    function = former.find_function()
    function.body = function.body.replace(
        "AND ($6 IS NULL OR s.user_id = $6)",
        f"AND ($6 IS NULL OR s.user_id = $6) AND {not_frozen('s.user_id')}",
    )
    return function


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0006_words_of_projects"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        FreezeTable("agent_episodes"),
        FreezeTable("episode_embeddings"),
        FreezeTable("episode_search"),
        FreezeTable("episode_access"),
        FreezeTable("episode_revisions"),
        FreezeTable("user_entities"),
        FreezeTable("entity_embeddings"),
        find_function(),
    ]
