"""Which index serves which query of the store, seen as the app role with row-level security in force."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from episodic.item_sweeping import LOCK
from episodic.item_types import (
    ItemGet,
    ItemName,
    ItemRead,
    ItemScope,
    ItemSearch,
    NamespaceList,
    NamespaceMatch,
    NewItem,
)
from episodic.items import read_items
from recall.saving_items import save_items
from tenants.caller import Caller
from tests.conftest import make_member
from tests.plans import indexes_of, vacuum

ROWS = 20_000
WHOSE = ItemScope(user_id="u3")
# Row n: one of 20 users, each in 100 namespaces; every tenth expires, and of those few have already.
COPY_EPISODES = """
INSERT INTO agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type,
                            origin, text, topics, entities, outcome, metadata, created_at, embed_pending)
SELECT gen_random_uuid(), %(tenant)s, 'store', 'u' || n %% 20, '', '', '', 'semantic',
       'saved', n::text, '{}', '{}', '', '{}', now() - n * interval '1 second', false
FROM generate_series(1, %(rows)s) n
"""
COPY_ITEMS = """
INSERT INTO store_items (id, tenant_id, user_id, agent_id, project, digest, path, key, value, ttl_minutes,
                         expires_at, created_at, updated_at)
SELECT id, tenant_id, user_id, '', '', md5(text), 'a.' || text::int / 20 %% 100 || '.', text, '{}',
       CASE WHEN text::int %% 10 = 0 THEN 5 END,
       CASE WHEN text::int %% 10 = 0 THEN now() + (text::int - 100) * interval '1 minute' END,
       created_at, created_at
FROM agent_episodes WHERE tenant_id = %(tenant)s AND namespace = 'store'
"""


@pytest.fixture(scope="module")
def caller(server: str) -> Iterator[Caller]:
    """Acme with 20,000 items."""
    member = make_member("acme", server)
    params = {"tenant": member.caller.tenant_id, "rows": ROWS}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_EPISODES, params)
        cursor.execute(COPY_ITEMS, params)
        cursor.execute("ANALYZE agent_episodes")
    vacuum("store_items")  # or no index is read without its table
    return member.caller


def read(caller: Caller, one: ItemRead) -> set[str]:
    return indexes_of(caller, lambda: read_items(caller=caller, reads=[one], now=timezone.now()))


def test_one_item_is_looked_up_by_its_name(caller):
    assert read(caller, ItemGet(ItemName(WHOSE, ("a", "1"), "k"), refresh=False)) == {"item_name"}


def test_what_was_put_last_is_the_first_page_of_an_index(caller):
    assert read(caller, ItemSearch(WHOSE, refresh=False)) == {"item_recent"}


def test_a_search_reads_what_is_below_its_namespace_only(caller):
    assert read(caller, ItemSearch(WHOSE, ("a", "7"), refresh=False)) == {"item_path"}


def test_a_read_puts_off_the_end_of_what_it_has_found_only(caller):
    used = read(caller, ItemSearch(WHOSE, ("a", "7")))
    assert used == {"item_path", "store_items_pkey"}


@pytest.mark.parametrize("prefix", [(), ("a", "7")], ids=str)
def test_namespaces_are_read_from_the_index(caller, prefix):
    asked = NamespaceList(WHOSE, (NamespaceMatch("prefix", prefix),) if prefix else ())
    assert read(caller, asked) == {"item_path"}


def test_a_put_looks_for_the_one_item_only(caller):
    item = NewItem(ItemName(WHOSE, ("a", "7"), "k"), {"n": 1}, index=())
    used = indexes_of(caller, lambda: save_items(caller=caller, writes=[item], now=timezone.now()))
    assert "episode_external_id" in used
    assert not {"SEQ store_items", "SEQ store_vectors", "SEQ agent_episodes"} & used


def test_the_sweeper_reads_what_has_expired_only(caller):
    now = timezone.now() - timedelta(minutes=10)
    params = {"tenant": caller.tenant_id, "now": now, "limit": 1_000}

    def run():
        with connection.cursor() as cursor:
            cursor.execute(LOCK, params)
            assert 0 < len(cursor.fetchall()) < 100

    assert indexes_of(caller, run) == {"item_expiry", "agent_episodes_pkey"}
