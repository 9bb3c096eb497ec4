"""Items that expire: read no more from then on, and swept."""

from datetime import timedelta

from django.utils import timezone

from episodic.item_sweeping import sweep_items
from episodic.item_types import ItemGet, ItemName, ItemScope, ItemSearch, NamespaceList, NewItem
from episodic.items import read_items
from episodic.models import Episode, Item
from recall.saving_items import save_items
from tenants.scope import scope

NOW = timezone.now()
NOBODY = ItemScope()


def after(minutes):
    return NOW + timedelta(minutes=minutes)


def name(key="k"):
    return ItemName(NOBODY, ("a",), key)


def put(member, key="k", *, ttl=None, at=0.0, n=1):
    save_items(caller=member.caller, writes=[NewItem(name(key), {"n": n}, None, ttl)], now=after(at))


def read(member, one, at):
    (found,) = read_items(caller=member.caller, reads=[one], now=after(at))
    return found


def is_there(member, at, *, refresh=False, key="k"):
    return read(member, ItemGet(name(key), refresh), at) != "null"


def end(member):
    with scope(member.tenant.id):
        return Item.objects.get(tenant_id=member.tenant.id).expires_at


def test_an_item_is_there_until_it_expires_and_nowhere_afterwards(acme):
    put(acme, ttl=1.5)
    for at, there in ((1.4, True), (1.5, False)):
        assert is_there(acme, at) is there
        assert ("k" in read(acme, ItemSearch(NOBODY, refresh=False), at)) is there
        assert (read(acme, NamespaceList(NOBODY), at) != "[]") is there


def test_one_without_a_time_stays(acme):
    put(acme)
    assert is_there(acme, 10_000_000, refresh=True)


def test_reading_puts_the_end_off_unless_it_is_told_not_to(acme):
    put(acme, ttl=10)
    assert is_there(acme, 9, refresh=True)
    assert is_there(acme, 18, refresh=False)
    assert not is_there(acme, 19)
    put(acme, ttl=10)
    assert "k" in read(acme, ItemSearch(NOBODY, refresh=True), 9)
    assert is_there(acme, 18)


def test_nothing_brings_back_what_has_expired(acme):
    put(acme, ttl=1)
    before = end(acme)
    assert not is_there(acme, 2, refresh=True)
    assert "k" not in read(acme, ItemSearch(NOBODY, refresh=True), 2)
    assert end(acme) == before == after(1)


def test_put_after_it_has_expired_it_is_a_new_one(acme):
    put(acme, ttl=1)
    put(acme, at=2, n=2)
    with scope(acme.tenant.id):
        item = Item.objects.get(tenant_id=acme.tenant.id)
    assert (item.created_at, item.expires_at, item.value) == (after(2), None, {"n": 2})


def test_the_sweep_deletes_what_has_expired_with_its_episode(acme, globex):
    put(acme, ttl=1)
    put(acme, "later", ttl=5)
    put(acme, "for good")
    put(globex, ttl=1)
    sweep_items(now=after(2))
    for member, left in ((acme, {"later", "for good"}), (globex, set())):
        with scope(member.tenant.id):
            assert set(Item.objects.values_list("key", flat=True)) == left
            assert Episode.objects.count() == len(left)
