"""Marking several items in one commit."""

from datetime import timedelta

import pytest
from django.db import DataError
from django.utils import timezone

from ledger import injections, querysets, store
from ledger.models import Injection
from tenants.errors import Forbidden
from tenants.privacy.erasure import begin_erasure
from tenants.scope import scope
from tenants.tombstones import Erased
from tests.ledger.told import S, cached, check, evict, logged, mark, read, trusted
from tests.working.conversation import at_once
from working.sessions import access_session, find_session
from working.types import SessionAddress


def mark_all(caller, items, address=S, now=None):
    injections.mark_items(caller=caller, address=address, items=items, now=now or timezone.now())


def rows(caller):
    with scope(caller.tenant_id):
        found = Injection.objects.filter(tenant_id=caller.tenant_id)
        return list(found.order_by("item_key", "marked_at"))


def test_all_of_them_are_found_with_their_values(caller):
    items = {"observation:2": "b", "observation:1": "a", "skill:ä 😀": "", "d:token": "x" * 64}
    mark_all(caller, items)
    assert read(caller) == cached(caller) == logged(caller) == items
    assert trusted(caller)
    assert check(caller, "observation:1") == "a"


def test_marks_that_are_there_are_overwritten_and_others_stay(caller):
    mark(caller, "a", "1")
    mark(caller, "b", "1")
    later = timezone.now() + timedelta(seconds=5)
    mark_all(caller, {"b": "2", "c": "2"}, now=later)
    assert read(caller) == cached(caller) == logged(caller) == {"a": "1", "b": "2", "c": "2"}
    assert [(row.item_key, row.marked_at == later) for row in rows(caller)] == [
        ("a", False), ("b", True), ("c", True),
    ]  # fmt: skip


def test_one_that_was_evicted_is_marked_anew(caller):
    mark_all(caller, {"a": "1"})
    evict(caller, "a")
    mark_all(caller, {"a": "2", "b": "2"})
    assert read(caller) == {"a": "2", "b": "2"}
    assert [row.released_at is None for row in rows(caller)] == [False, True, True]


def test_nothing_to_mark_makes_no_session(caller):
    mark_all(caller, {})
    assert find_session(caller=caller, address=S) is None


def test_the_session_is_created(caller):
    mark_all(caller, {"a": "1"}, SessionAddress("new", "ann"))
    assert access_session(caller=caller, address=SessionAddress("new", "ann")).user_id == "ann"
    assert read(caller) == {}


def test_very_many_are_one_commit(caller):
    items = {f"observation:{n}": str(n) for n in range(2_000)}
    mark_all(caller, items)
    assert read(caller) == cached(caller) == logged(caller) == items


def test_if_one_cannot_be_marked_none_is(caller):
    mark(caller, "a")
    with pytest.raises(DataError):
        mark_all(caller, {"b": "1", "c\x00": "1"})
    assert read(caller) == cached(caller) == logged(caller) == {"a": "1"}
    assert trusted(caller)


def test_writers_of_the_same_items_in_any_order_do_not_lock_each_other_up(caller):
    items = {str(n): "0" for n in range(40)}
    mark_all(caller, items)

    def write(n):
        for turn in range(5):
            order = reversed(items) if n % 2 else iter(items)
            mark_all(caller, dict.fromkeys(order, f"{n} {turn}"))

    at_once(*(lambda n=n: write(n) for n in range(8)))
    assert read(caller) == logged(caller)
    assert read(caller) == cached(caller) == logged(caller)
    assert trusted(caller)
    assert len(set(logged(caller).values())) == 1, "each commit set all of them"


@pytest.mark.parametrize("last", ["a set", "an end"])
def test_of_two_that_meet_the_last_commit_counts_whoever_tells_redis_last(caller, monkeypatch, last):
    """The first to commit is held up on its way to Redis until the other has told what it did."""
    mark_all(caller, {"a": "0"})
    settle, late = store.settle, []

    def held_up(**given):
        late.append(given)
        monkeypatch.setattr(store, "settle", settle)
        mark_all(caller, {"a": "2"}) if last == "a set" else evict(caller, "a")

    monkeypatch.setattr(store, "settle", held_up)
    mark_all(caller, {"a": "1"})
    settle(**late[0])
    expected = {"a": "2"} if last == "a set" else {}
    assert read(caller) == logged(caller) == expected
    assert cached(caller) == expected
    assert trusted(caller)


def test_the_mark_of_a_writer_that_died_counts_all_the_same(caller):
    mark_all(caller, {"a": "1"})
    session = access_session(caller=caller, address=S)
    ref, now = injections.ref_of(session), timezone.now()
    injections.store.mark(caller=caller, ref=ref, now=now.timestamp(), token="dead", looked_up=False)
    with scope(caller.tenant_id):
        querysets.mark_all(ref=ref, items={"b": "2"}, now=now)
    assert read(caller) == {"a": "1", "b": "2"}


def test_globex_is_not_told_what_acme_was_told(acme, globex):
    mark_all(acme.caller, {"a": "1"})
    mark_all(globex.caller, {"b": "1"})
    assert (read(acme.caller), read(globex.caller)) == ({"a": "1"}, {"b": "1"})


def test_a_key_that_does_not_reach_the_session_marks_nothing(acme):
    mark_all(acme.caller, {"a": "1"})
    with pytest.raises(Forbidden):
        mark_all(acme.with_key(agent_id="bob").caller, {"b": "1"})
    assert read(acme.caller) == {"a": "1"}


def test_what_was_begun_before_an_erasure_marks_nothing(caller):
    began, hers = timezone.now(), SessionAddress("s", "ann")
    mark_all(caller, {"a": "1"}, hers)
    begin_erasure(tenant_id=caller.tenant_id, user_id="ann", actor="test", now=timezone.now())
    with pytest.raises(Erased):
        mark_all(caller, {"b": "1"}, hers, now=began)
    assert "b" not in logged(caller, hers)
