"""Which sessions there are, for clients that send them as a whole."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.errors import Forbidden
from tests.working.conversation import append, turn
from tests.working.workspaces import add, put, said
from working.types import SessionAddress
from working.workspace import list_workspaces


def listed(caller, *, namespace=None, user_id=None, limit=20, offset=0, later=0):
    now = timezone.now() + timedelta(seconds=later)
    return list_workspaces(
        caller=caller, namespace=namespace, user_id=user_id, limit=limit, offset=offset, now=now
    )


def test_those_used_last_come_first(caller):
    for name in "abc":
        put(caller, address=SessionAddress(name))
    add(caller, *said("x"), address=SessionAddress("a"))
    assert listed(caller) == (["a", "c", "b"], 3)


def test_a_page_is_part_of_them_and_the_total_is_of_all(caller):
    for name in "abcde":
        put(caller, address=SessionAddress(name))
    assert listed(caller, limit=2) == (["e", "d"], 5)
    assert listed(caller, limit=2, offset=4) == (["a"], 5)
    assert listed(caller, offset=9) == ([], 5)


def test_they_are_of_the_namespace_and_user_that_are_named(caller):
    put(caller, address=SessionAddress("a", "ann"))
    put(caller, address=SessionAddress("b", "bob", "work"))
    put(caller, address=SessionAddress("c", None, "work"))
    assert listed(caller, namespace="work") == (["c", "b"], 2)
    assert listed(caller, user_id="ann") == (["a"], 1)
    assert listed(caller, namespace="work", user_id="bob") == (["b"], 1)
    assert listed(caller, namespace="none") == ([], 0)
    assert listed(caller)[1] == 3


def test_one_whose_hold_is_over_is_none(caller):
    put(caller, address=SessionAddress("a"), ttl_seconds=60)
    put(caller, address=SessionAddress("b"))
    assert listed(caller, later=61) == (["b"], 1)


def test_those_of_other_dialects_are_among_them(caller):
    append(caller, turn("user", "x"), address=SessionAddress("a"))
    assert listed(caller) == (["a"], 1)


def test_a_key_is_told_of_those_within_its_reach(acme):
    put(acme.caller, address=SessionAddress("a", "ann"))
    put(acme.caller, address=SessionAddress("b", "bob"))
    put(acme.with_key(agent_id="one").caller, address=SessionAddress("c"))
    put(acme.with_key(project="p").caller, address=SessionAddress("d"))
    assert listed(acme.with_key(user_id="ann").caller) == (["a"], 1)
    assert listed(acme.with_key(agent_id="one").caller) == (["c"], 1)
    assert listed(acme.with_key(project="p").caller) == (["d"], 1)
    with pytest.raises(Forbidden):
        listed(acme.with_key(user_id="ann").caller, user_id="bob")


def test_globex_is_told_of_its_own(acme, globex):
    put(acme.caller, address=SessionAddress("a"))
    assert listed(globex.caller) == ([], 0)
