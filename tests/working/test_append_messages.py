"""Messages that are added to a session that is otherwise sent as a whole."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.errors import PreconditionFailed
from tests.recall.talking import decide
from tests.working.conversation import S, append, at_once, contents, logged, turn
from tests.working.workspaces import add, again, ids, put, read, said, seen, texts, unnamed
from working import store
from working.redis import RedisAway
from working.sessions import access_session
from working.types import SessionAddress

RECORD = {"id": "r", "text": "Ann likes tea.", "memory_type": "semantic"}


def test_they_stand_behind_what_is_there_and_change_nothing_else(caller):
    put(caller, *said("a"), data={"x": 1}, memories=(RECORD,), context="Before.", tokens=7, ttl_seconds=60)
    after = add(caller, *said("b"), *said("c", role="critic"))
    found = seen(caller)
    assert ids(after) == ids(found) == ["a", "b", "c"]
    assert (found.data, found.context, found.tokens, found.ttl_seconds) == ({"x": 1}, "Before.", 7, 60)
    assert [one["id"] for one in found.memories] == ["r"]
    assert contents(caller) == ["a", "b", "c"]


def test_a_new_session_begins_with_them(caller):
    add(caller, *said("a"), usual_hold=60)
    assert ids(seen(caller)) == ["a"]
    assert read(caller, later=61) is None


def test_one_that_is_there_is_left_out(caller):
    add(caller, *said("a"))
    add(caller, *said("a", content="again"), *said("b"), *said("b", content="again"))
    assert texts(seen(caller)) == ["a", "again"], "of two new ones with one id the last counts"


def test_messages_without_an_id_are_new_each_time(caller):
    add(caller, *unnamed("x"))
    add(caller, *unnamed("x", "x"))
    found = seen(caller)
    assert texts(found) == ["x", "x", "x"]
    assert len(set(ids(found))) == 3


def test_each_message_has_its_own_moment_of_the_server(caller):
    first = add(caller, *said("a"))
    second = add(caller, *said("b"))
    assert second.version > first.version
    put(caller, *said("a", "mine"), last_accessed=first.changed_at)
    assert ids(seen(caller)) == ["a", "b", "mine"]


def test_adding_nothing_is_allowed(caller):
    assert ids(add(caller)) == []
    put(caller, *said("a"))
    assert ids(add(caller)) == ["a"]


@pytest.mark.parametrize("exists", [True, False])
def test_twenty_at_once_keep_twenty(caller, exists):
    if exists:
        put(caller, *said("before"))
    at_once(*(lambda n=n: add(caller, *said(f"{n}")) for n in range(20)))
    found = set(ids(seen(caller)))
    assert found == {f"{n}" for n in range(20)} | ({"before"} if exists else set())
    assert access_session(caller=caller, address=S).turn_count == len(found)


def test_they_stand_among_turns_that_come_otherwise(caller):
    append(caller, turn("user", "a"))
    add(caller, *said("b"))
    append(caller, turn("assistant", "c"))
    assert texts(seen(caller)) == ["a", "b", "c"] == contents(caller)


def test_it_may_be_to_one_version_only(caller):
    first = add(caller, *said("a"))
    add(caller, *said("b"), match=[first.version])
    with pytest.raises(PreconditionFailed):
        add(caller, *said("c"), match=[first.version])
    assert ids(seen(caller)) == ["a", "b"]


def test_they_begin_the_hold_anew(caller):
    put(caller, *said("a"), ttl_seconds=60)
    add(caller, *said("b"), now=timezone.now() + timedelta(seconds=50))
    assert ids(read(caller, later=100)) == ["a", "b"]


def test_when_the_hold_is_over_they_begin_anew(caller):
    put(caller, *said("a"), data={"x": 1}, context="Before.", ttl_seconds=60)
    add(caller, *said("b"), usual_hold=5, now=timezone.now() + timedelta(seconds=61))
    found = read(caller, later=62)
    assert (ids(found), found.data, found.context, found.ttl_seconds) == (["b"], None, "", 5)
    assert contents(caller) == ["b"]


def test_of_a_session_that_others_began_the_turns_outlast_the_hold(caller):
    append(caller, turn("user", "a"))
    put(caller, *again(seen(caller)), data={"x": 1}, context="Before.", ttl_seconds=60)
    assert read(caller, later=61) is None
    add(caller, *said("b"), usual_hold=5, now=timezone.now() + timedelta(seconds=61))
    found = read(caller, later=62)
    assert (texts(found), found.data, found.context) == (["a", "b"], None, "Before.")
    assert found.expires_at is None
    assert contents(caller) == ["a", "b"]


def test_of_a_session_without_messages_the_data_goes_with_its_hold(caller):
    put(caller, data={"x": 1}, ttl_seconds=60)
    add(caller, *said("b"), now=timezone.now() + timedelta(seconds=61))
    assert seen(caller).data is None


def test_without_redis_nothing_is_written(caller, monkeypatch):
    def away(**named):
        raise RedisAway("Redis is away.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "mark", away)
        with pytest.raises(RedisAway):
            add(caller, *said("a"))
    assert read(caller) is None


def test_a_writer_that_dies_after_its_commit_has_written(caller, monkeypatch):
    def die(**named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            add(caller, *said("a"))
    add(caller, *said("a", "b"))
    assert ids(seen(caller)) == ["a", "b"]
    assert contents(caller) == ["a", "b"]


def test_without_a_log_they_are_in_redis_alone(caller):
    decide(caller, write={"events": "off"})
    at_once(*(lambda n=n: add(caller, *said(f"{n}")) for n in range(8)))
    add(caller, *said("0", "8"))
    assert sorted(ids(seen(caller))) == [f"{n}" for n in range(9)]
    assert logged(caller) == []


def test_globex_adds_to_a_session_of_its_own(acme, globex):
    add(acme.caller, *said("a"))
    add(globex.caller, *said("b"))
    assert (ids(seen(acme.caller)), ids(seen(globex.caller))) == (["a"], ["b"])


def test_a_key_bound_to_a_user_adds_to_that_users_session(acme):
    add(acme.with_key(user_id="ann").caller, *said("a"))
    assert ids(read(acme.caller, SessionAddress("s", "ann"))) == ["a"]
