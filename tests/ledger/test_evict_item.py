import pytest
from django.utils import timezone

from ledger import injections, keys, store
from recall.sessions import delete_session, end_session
from tests.ledger.told import S, cached, check, clear, evict, logged, mark, read, reference, trusted


def test_an_evicted_item_is_gone_from_both_stores(caller):
    mark(caller, "a")
    mark(caller, "b")
    assert (evict(caller, "a"), evict(caller, "a")) == (True, False)
    assert check(caller, "a") is None
    assert read(caller) == cached(caller) == logged(caller) == {"b": "1"}


def test_an_evicted_item_can_be_marked_as_new(caller):
    mark(caller, "a")
    evict(caller, "a")
    assert mark(caller, "a", "again") is True
    assert check(caller, "a") == "again"


def test_clearing_tells_how_many_there_were(caller):
    mark(caller, "a")
    mark(caller, "b")
    assert (clear(caller), clear(caller)) == (2, 0)
    assert read(caller) == cached(caller) == logged(caller) == {}


def test_clearing_that_fails_leaves_no_mark_behind(caller, monkeypatch):
    mark(caller, "a")

    def fail(**given):
        raise ZeroDivisionError

    monkeypatch.setattr(injections, "release_items", fail)
    with pytest.raises(ZeroDivisionError):
        clear(caller)
    assert trusted(caller)
    assert cached(caller) == logged(caller) == {"a": "1"}


def test_the_end_of_a_session_empties_its_ledger(caller):
    mark(caller, "a")
    end_session(caller=caller, address=S, now=timezone.now())
    assert check(caller, "a") is None
    assert (logged(caller), cached(caller)) == ({}, {})
    assert trusted(caller), "the end leaves no mark behind that would keep Redis out"
    assert mark(caller, "a") is True


def test_a_session_begun_anew_under_a_deleted_id_has_been_told_nothing(caller):
    mark(caller, "a")
    delete_session(caller=caller, address=S, now=timezone.now())
    assert (check(caller, "a"), read(caller)) == (None, {})
    mark(caller, "b")
    assert read(caller) == {"b": "1"}


def test_a_reader_that_loaded_before_the_end_does_not_put_the_items_back(caller):
    """It saw no copy, loaded the items, and stalled while another ended the session."""
    mark(caller, "a")
    ref, now = reference(caller), timezone.now().timestamp()
    from django_redis import get_redis_connection

    get_redis_connection().flushdb()
    _trusted, _items, generation = store.read_items(caller=caller, ref=ref, now=now)
    loaded = logged(caller)
    clear(caller)
    store.load(caller=caller, ref=ref, now=now, generation=generation, owner=("", ""), items=loaded)
    assert check(caller, "a") is None
    assert read(caller) == {}


def test_items_loaded_under_another_server_are_not_put_in_place(caller):
    mark(caller, "a")
    ref, now = reference(caller), timezone.now().timestamp()
    _trusted, _items, generation = store.read_items(caller=caller, ref=ref, now=now)
    there = generation.partition("@")[0] + "@elsewhere"
    store.load(caller=caller, ref=ref, now=now, generation=there, owner=("", ""), items={})
    assert read(caller) == {"a": "1"}


def test_what_was_looked_at_after_the_end_leaves_no_key_for_ever(caller):
    from django_redis import get_redis_connection

    redis = get_redis_connection()
    mark(caller, "a")
    state = keys.state(reference(caller))
    assert redis.ttl(state) == -1
    clear(caller)
    redis.delete(state)
    assert read(caller) == {}
    assert 0 < redis.ttl(state) <= 60
    mark(caller, "b")
    assert redis.ttl(state) == -1


def test_a_death_between_commit_and_redis_does_not_keep_released_items_alive(caller):
    from ledger.injections import release_items, suspend_items
    from tenants.scope import scope

    mark(caller, "a")
    ref = reference(caller)
    suspend_items(caller=caller, ref=ref, now=timezone.now())
    with scope(caller.tenant_id):
        release_items(ref=ref, now=timezone.now())
    assert check(caller, "a") is None
