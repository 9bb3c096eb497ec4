"""Many who put, read, delete and sweep the same items at the same time."""

import json
from datetime import timedelta

import psycopg
from django.utils import timezone

from episodic.item_sweeping import sweep_items
from episodic.item_types import ItemGet, ItemName, ItemScope, ItemSearch, NewItem
from episodic.items import read_items
from episodic.models import Episode, Item, ItemVector
from recall.saving_items import save_items
from tenants.scope import scope
from tests.plugin import STORES
from tests.working.conversation import at_once

NOBODY = ItemScope()
ROUNDS = 30


def name(key, user_id=""):
    return ItemName(ItemScope(user_id=user_id), ("a",), key)


def put(member, *keys, n=0, ttl=10, now=None):
    items = [NewItem(name(key), {"n": n}, (), ttl, ((f"f{n}", (1.0, n)),)) for key in keys]
    save_items(caller=member.caller, writes=items, now=now or timezone.now())


def read(member, one):
    (found,) = read_items(caller=member.caller, reads=[one], now=timezone.now())
    return json.loads(found)


def stored(member):
    """The items, the episodes that say them, and the vectors."""
    with scope(member.tenant.id):
        return [
            list(table.objects.filter(tenant_id=member.tenant.id)) for table in (Item, Episode, ItemVector)
        ]


def test_a_read_does_not_wait_for_whoever_is_busy_with_an_item(acme):
    put(acme, "busy", "free")
    (before,) = {one.expires_at for one in stored(acme)[0]}
    with psycopg.connect(STORES.postgres.superuser_url("strata")) as other:
        other.execute(
            "SELECT FROM store_items WHERE tenant_id = %s AND key = 'busy' FOR UPDATE", [acme.tenant.id]
        )
        one, found = at_once(
            lambda: read(acme, ItemGet(name("busy"))), lambda: read(acme, ItemSearch(NOBODY))
        )
    assert one["value"] == {"n": 0}
    assert len(found) == 2
    ends = {one.key: one.expires_at for one in stored(acme)[0]}
    assert ends["busy"] == before
    assert ends["free"] > before


def test_reads_and_puts_in_any_order_do_not_hold_each_other_up(acme):
    keys = [f"k{number}" for number in range(40)]
    put(acme, *keys)

    def puts(order):
        for number in range(ROUNDS):
            put(acme, *order, n=number)

    def reads():
        for _ in range(ROUNDS):
            assert len(read(acme, ItemSearch(NOBODY, limit=100))) == len(keys)

    at_once(lambda: puts(keys), lambda: puts(keys[::-1]), reads, reads)
    assert {one.value["n"] for one in stored(acme)[0]} == {ROUNDS - 1}


def test_of_those_who_put_one_item_one_is_left_whole(acme):
    at_once(*(lambda n=n: put(acme, "k", n=n) for n in range(12)))
    (item,), (episode,), (vector,) = stored(acme)
    assert (item.id, item.id) == (episode.id, vector.item_id)
    assert vector.field == f"f{item.value['n']}"


def test_put_and_deleted_at_once_an_item_is_there_or_not(acme):
    def delete(*keys):
        save_items(caller=acme.caller, writes=[name(key) for key in keys], now=timezone.now())

    for number in range(ROUNDS):
        at_once(
            lambda n=number: put(acme, "one", "two", n=n),
            lambda: delete("two", "one"),
            lambda: read(acme, ItemSearch(NOBODY)),
        )
    items, episodes, vectors = stored(acme)
    assert len(items) in (0, 2)
    assert {one.id for one in items} == {one.id for one in episodes} == {one.item_id for one in vectors}


def test_what_is_put_again_while_it_is_swept_is_there(acme):
    for number in range(ROUNDS):
        put(acme, "k", n=-1, ttl=1, now=timezone.now() - timedelta(minutes=2))
        at_once(lambda n=number: put(acme, "k", n=n), lambda: sweep_items(now=timezone.now()))
        assert read(acme, ItemGet(name("k")))["value"] == {"n": number}
