"""A session as clients read it that send it as a whole."""

from dataclasses import replace

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from tenants.errors import Forbidden
from tenants.privacy.erasure import request_erasure
from tests.privacy.people import erase, run_jobs
from tests.recall.talking import decide, exchanges, tell
from tests.working.conversation import S, append, reference, turn
from tests.working.workspaces import add, ids, put, read, said, seen, texts
from working import keys, store
from working.memory import put_fields
from working.redis import RedisAway
from working.sessions import open_session
from working.types import SessionAddress

ANN = SessionAddress("s", "ann")


def away(**named):
    raise RedisAway("Redis is away.")


def test_there_is_none_before_it_is_written(caller):
    assert read(caller) is None


def test_it_is_of_exactly_that_user_and_namespace(caller):
    put(caller, *said("nobody's"))
    put(caller, *said("ann's"), address=ANN)
    put(caller, *said("there"), address=SessionAddress("s", "ann", "there"))
    assert ids(read(caller)) == ["nobody's"]
    assert ids(read(caller, ANN)) == ["ann's"]
    assert ids(read(caller, SessionAddress("s", "ann", "there"))) == ["there"]
    assert read(caller, SessionAddress("s", None, "there")) is None
    assert read(caller, SessionAddress("s", "bob")) is None


def test_what_is_only_known_to_one_user_is_shown_to_nobody_else(caller):
    put(caller, *said("a"), address=ANN)
    assert read(caller) is None


def test_a_session_of_another_dialect_is_one_as_well(caller):
    append(caller, turn("user", "a"), turn("assistant", "b"))
    put_fields(caller=caller, address=S, data={"scratchpad": "x"}, now=timezone.now())
    found = seen(caller)
    assert (texts(found), found.data, found.expires_at) == (["a", "b"], {"scratchpad": "x"}, None)
    assert found.version


def test_it_shows_what_windows_show(caller):
    decide(caller, summary={"every_turns": 8})
    tell(caller, *exchanges(1, 4))
    found = seen(caller)
    assert texts(found) == ["u3", "a3", "u4", "a4"]
    assert "u1" in found.context


def test_it_needs_no_redis(caller, monkeypatch):
    put(caller, *said("a"), data={"x": 1})
    monkeypatch.setattr(store, "read_fields", away)
    found = seen(caller)
    assert (ids(found), found.data) == (["a"], {"x": 1})


def test_it_survives_the_loss_of_redis(caller):
    put(caller, *said("a"), data={"x": 1})
    add(caller, *said("b"))
    get_redis_connection().delete(*keys.all_of(reference(caller)))
    found = seen(caller)
    assert (ids(found), found.data) == (["a", "b"], {"x": 1})
    add(caller, *said("c"))
    assert ids(seen(caller)) == ["a", "b", "c"]


def test_its_hold_ends_for_reading_too(caller):
    put(caller, *said("a"), ttl_seconds=60)
    assert ids(read(caller, later=59)) == ["a"]
    assert read(caller, later=61) is None


def test_reading_does_not_prolong_it(caller):
    put(caller, *said("a"), ttl_seconds=60)
    read(caller, later=59)
    assert read(caller, later=61) is None


def test_globex_sees_nothing_of_acme(acme, globex):
    put(acme.caller, *said("a"), data={"x": 1})
    assert read(globex.caller) is None


def test_a_key_bound_to_a_user_reads_that_users_alone(acme):
    put(acme.caller, *said("ann's"), address=ANN)
    put(acme.caller, *said("nobody's"))
    mine = acme.with_key(user_id="ann").caller
    assert ids(read(mine)) == ["ann's"]
    with pytest.raises(Forbidden):
        read(mine, SessionAddress("s", "bob"))


def test_who_may_not_read_conversations_is_shown_none(acme):
    put(acme.caller, *said("a"))
    viewer = replace(acme.caller, kind="member", scopes=frozenset({"read"}))
    with pytest.raises(Forbidden):
        read(viewer)


def test_after_an_erasure_there_is_none(acme):
    put(acme.caller, *said("a"), data={"x": 1}, context="Before.", address=ANN)
    erase(acme, "ann")
    assert read(acme.caller, ANN) is None
    put(acme.caller, *said("b"), address=ANN)
    found = read(acme.caller, ANN)
    assert (ids(found), found.data, found.context) == (["b"], None, "")


def test_a_session_without_anything_is_there_once_it_is_opened(caller):
    open_session(caller=caller, address=S, now=timezone.now())
    assert ids(seen(caller)) == []


def test_one_who_goes_on_while_being_erased_keeps_what_came_since_alone(acme):
    caller = acme.caller
    put(
        caller,
        *said("a"),
        data={"x": 1},
        memories=({"id": "r", "text": "x"},),
        context="Before.",
        address=ANN,
    )
    officer = acme.with_key(scopes=("read", "write", "privacy")).caller
    request_erasure(caller=officer, user_id="ann", now=timezone.now())
    found = read(caller, ANN)
    put(caller, *said("b"), context="Before.", last_accessed=found.changed_at, address=ANN)
    run_jobs()
    after = read(caller, ANN)
    assert (ids(after), after.data, after.context) == (["b"], None, "")
