"""What documents of restricted people say is neither read nor changed."""

from importlib import import_module

from django.db import migrations

from tenants.isolation import DefinerFunction, FreezeTable, not_frozen

former = import_module("knowledge.migrations.0002_keyword_search")


def find_function() -> DefinerFunction:
    """`chunks_find` as before, less what is restricted: it sees past the policies."""
    function: DefinerFunction = former.find_function()
    function.body = function.body.replace(
        "WHERE c.lexemes @@ $3 AND", f"WHERE c.lexemes @@ $3 AND {not_frozen('c.user_id')} AND"
    )
    return function


class Migration(migrations.Migration):
    dependencies = [
        ("knowledge", "0002_keyword_search"),
        ("tenants", "0009_restrictions"),
    ]

    operations = [
        FreezeTable("knowledge_document"),
        FreezeTable("knowledge_chunk"),
        FreezeTable("chunk_embeddings"),
        find_function(),
    ]
