"""What restricted people's observations say is neither read nor changed."""

from importlib import import_module

from django.db import migrations

from tenants.isolation import DefinerFunction, FreezeTable, not_frozen

former = import_module("observations.migrations.0002_keyword_search")


def find_function() -> DefinerFunction:
    """`observations_find` as before, less what is restricted: it sees past the policies."""
    function: DefinerFunction = former.find_function()
    function.body = function.body.replace(
        "AND ($6 IS NULL OR s.user_id = $6)",
        f"AND ($6 IS NULL OR s.user_id = $6) AND {not_frozen('s.user_id')}",
    )
    return function


class Migration(migrations.Migration):
    dependencies = [
        ("observations", "0002_keyword_search"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        FreezeTable("observations_observation"),
        FreezeTable("observations_observationrevision"),
        FreezeTable("observation_search"),
        FreezeTable("observation_embeddings"),
        find_function(),
    ]
