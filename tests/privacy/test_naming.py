"""Stores and tables have names that people know."""

from console.governance.leftovers import LISTS, PAGES
from tenants.privacy.naming import STORES, TABLES, name_of_place, name_of_store
from tenants.privacy.registry import handlers
from tenants.privacy.words import VOCABULARY
from tests.isolation.tables import TABLES as TENANT_TABLES


def test_every_store_that_can_be_erased_has_a_name():
    assert handlers().keys() - STORES.keys() == set()
    assert len(set(STORES.values())) == len(STORES)


def test_every_table_in_which_something_can_be_left_has_a_name():
    assert TENANT_TABLES.keys() - {"tenants_tenant"} - TABLES.keys() == set()
    assert {table for table, _column in VOCABULARY} <= TABLES.keys()


def test_pages_are_of_tables_that_there_are():
    for table, (_page, column) in PAGES.items():
        columns = {field.column for field in TENANT_TABLES[table]._meta.concrete_fields}
        assert column in columns, table
    for place in LISTS:
        table, _, column = place.partition(".")
        columns = {field.column for field in TENANT_TABLES[table]._meta.concrete_fields}
        assert column in columns | {""}, place


def test_a_place_is_told_by_table_and_column():
    assert name_of_place("agent_episodes.key_decisions") == "Memories: key decisions"
    assert name_of_place("redis.values") == "Fast memory (Redis): values"
    assert name_of_place("new_table.column") == "New table: column"
    assert name_of_store("episode") == "Memories of conversations"
    assert name_of_store("new_store") == "New store"
