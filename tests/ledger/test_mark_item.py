from datetime import timedelta

import pytest
from django.utils import timezone

from ledger import querysets, store
from tenants.errors import Forbidden
from tenants.scope import scope
from tests.ledger.told import S, cached, check, clear, evict, logged, mark, read, reference, trusted
from working.sessions import open_session
from working.types import SessionAddress


def test_a_marked_item_is_found_with_its_value(caller):
    assert mark(caller, "skill:a", "v1") is True
    assert (check(caller, "skill:a"), check(caller, "skill:b")) == ("v1", None)


def test_marking_again_overwrites_and_says_that_it_is_not_new(caller):
    mark(caller, "skill:a", "v1")
    assert mark(caller, "skill:a", "v2") is False
    assert read(caller) == cached(caller) == logged(caller) == {"skill:a": "v2"}


@pytest.mark.parametrize("item", ["skill:ä 😀", "a/b?c#d", " ", "d:token", "gen", "loaded", "x" * 512])
def test_any_item_key_is_only_a_key(caller, item):
    mark(caller, item)
    assert check(caller, item) == "1"
    assert read(caller) == {item: "1"}
    assert trusted(caller)


def test_an_unknown_session_has_an_empty_ledger(caller):
    assert (read(caller), check(caller, "a"), evict(caller, "a"), clear(caller)) == ({}, None, False, 0)


def test_the_ledger_knows_no_expiry(caller):
    from django_redis import get_redis_connection

    from ledger import keys

    mark(caller, "a")
    clear(caller)
    mark(caller, "b")
    ref = reference(caller)
    assert {get_redis_connection().ttl(key) for key in (keys.items(ref), keys.state(ref))} == {-1}


def test_a_mark_whose_writer_died_before_settling_counts_at_once(caller):
    mark(caller, "a")
    ref, now = reference(caller), timezone.now()
    store.mark(caller=caller, ref=ref, now=now.timestamp(), token="dead", looked_up=False)
    with scope(caller.tenant_id):
        querysets.mark(ref=ref, item_key="b", value="1", now=now)
    assert check(caller, "b") == "1"
    assert not trusted(caller)


def test_redis_heals_when_the_mark_of_a_dead_writer_has_aged(caller):
    test_a_mark_whose_writer_died_before_settling_counts_at_once(caller)
    from ledger import injections

    later = timezone.now() + timedelta(seconds=store.MARK_DIES_AFTER + 2)
    assert injections.read_items(caller=caller, address=S, now=later) == {"a": "1", "b": "1"}
    assert trusted(caller)
    assert cached(caller) == logged(caller)


def test_the_ledger_of_one_session_is_not_that_of_another(caller):
    mark(caller, "a")
    assert read(caller, SessionAddress("t")) == {}
    assert read(caller, SessionAddress("s", namespace="n")) == {}
    assert read(caller, SessionAddress("s", user_id="u")) == {}


def test_globex_is_not_told_what_acme_was_told(acme, globex):
    mark(acme.caller, "a")
    assert (read(globex.caller), check(globex.caller, "a")) == ({}, None)
    assert mark(globex.caller, "a") is True


def test_a_key_bound_to_the_agent_reaches_the_ledger_of_a_session_given_to_it_later(acme):
    mark(acme.caller, "a")
    bound = acme.with_key(agent_id="ada").caller
    for verb in (check, mark, evict):
        with pytest.raises(Forbidden):
            verb(bound, "a")
    open_session(caller=acme.caller, address=S, agent_id="ada", now=timezone.now())
    assert check(bound, "a") == "1"
    assert mark(bound, "b") is True
    with pytest.raises(Forbidden):
        check(acme.with_key(agent_id="bob").caller, "a")
