"""A session that is sent as a whole: what is stored then, whoever else writes to it meanwhile."""

from datetime import timedelta

import pytest
from django.utils import timezone
from django_redis import get_redis_connection

from recall.sessions import end_session
from tenants.errors import Forbidden, PreconditionFailed, Restricted
from tenants.restrictions import restrict_subject
from tests.recall.talking import decide
from tests.working.conversation import (
    S,
    append,
    cached_entries,
    contents,
    logged,
    reference,
    state,
    turn,
)
from tests.working.workspaces import (
    add,
    again,
    ids,
    put,
    read,
    read_add_write,
    said,
    seen,
    texts,
    unnamed,
)
from working import keys, store
from working.redis import RedisAway
from working.sessions import access_session
from working.types import NewMessage, SessionAddress
from working.workspace_state import EmptyMessage

ANN = SessionAddress("s", "ann")
RECORD = {"id": "r", "text": "Ann likes tea.", "memory_type": "semantic"}


def test_what_is_sent_is_read(caller):
    sent = put(
        caller, *said("a", "b"), data={"x": 1}, memories=(RECORD,), context="Before.", tokens=7,
        strategy={"strategy": "summary", "config": {}}, ttl_seconds=60,
    )  # fmt: skip
    found = seen(caller)
    assert (ids(found), found.data, found.context, found.tokens) == (["a", "b"], {"x": 1}, "Before.", 7)
    assert (found.strategy["strategy"], found.ttl_seconds) == ("summary", 60)
    assert [one["text"] for one in found.memories] == ["Ann likes tea."]
    assert found.changed_at == sent.changed_at
    assert (found.messages, found.memories, found.data) == (sent.messages, sent.memories, sent.data)


def test_it_takes_the_place_of_what_there_was(caller):
    put(caller, *said("a", "b"), data={"x": 1}, memories=(RECORD,), context="Before.", tokens=7)
    put(caller, *said("c"), data={"y": 2})
    found = seen(caller)
    assert (ids(found), found.data, found.context, found.tokens, found.memories) == (
        ["c"],
        {"y": 2},
        "",
        0,
        (),
    )


def test_the_same_once_more_changes_no_turn(caller):
    put(caller, *said("a", "b"), data={"x": 1})
    before = [(one.seq, one.external_id, one.withdrawn_at) for one in logged(caller)]
    put(caller, *said("a", "b"), data={"x": 1})
    assert [(one.seq, one.external_id, one.withdrawn_at) for one in logged(caller)] == before


def test_windows_show_what_was_sent(caller):
    put(caller, *said("a", "b", "c"))
    assert contents(caller) == ["a", "b", "c"]
    put(caller, *said("c", "a"), NewMessage("assistant", "new", timezone.now(), "d"))
    assert contents(caller) == ["c", "a", "new"]
    assert access_session(caller=caller, address=S).turn_count == 3
    append(caller, turn("user", "e"))
    assert contents(caller) == ["c", "a", "new", "e"]
    assert state(caller)["turn_count"] == "4"


def test_the_list_in_redis_is_the_one_of_postgresql(caller):
    put(caller, *said("a", "b", "c"))
    assert len(cached_entries(caller)) == 3, "what is only added is put behind"
    put(caller, *said("a", "c"))
    get_redis_connection().delete(*keys.all_of(reference(caller)))
    assert contents(caller) == ["a", "c"]


def test_the_log_keeps_what_was_left_out(caller):
    put(caller, *said("a", "b"))
    put(caller, *said("a"))
    assert [(one.external_id, one.withdrawn_at is None) for one in logged(caller)] == [
        ("a", True),
        ("b", False),
    ]


def test_a_message_that_was_left_out_may_come_again(caller):
    put(caller, *said("a", "b"))
    put(caller, *said("a"))
    put(caller, *said("a", "b"))
    put(caller, *said("b"))
    put(caller, *said("a", "b"))
    assert ids(seen(caller)) == ["a", "b"]


def test_an_edited_message_says_what_it_says_now(caller):
    put(caller, *said("a", "b", "c"))
    put(caller, *said("a"), *said("b", content="B"), *said("c"))
    assert texts(seen(caller)) == ["a", "B", "c"] == contents(caller)


def test_ids_count_once_and_messages_without_one_get_one(caller):
    put(caller, *said("a", "b"), *said("a", content="again"), *unnamed("x", "x"))
    found = seen(caller)
    assert texts(found) == ["again", "b", "x", "x"], "the last counts, in the place of the first"
    assert len(set(ids(found))) == 4
    put(caller, *said("a", content="again"), *said("b"), *unnamed("x", "x", "y"))
    assert ids(seen(caller))[:4] == ids(found), "those are the same messages"


def test_any_role_is_a_message(caller):
    put(caller, *said("a", role="critic"), *said("b", role="developer"), *said("c", role="tool"))
    assert [one.role for one in seen(caller).messages] == ["critic", "developer", "tool"]
    assert access_session(caller=caller, address=S).turn_count == 3


def test_turns_that_came_otherwise_are_messages_and_stay_what_they_are(caller):
    call = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    append(caller, turn("user", "a", id="a"), turn("assistant", None, tool_calls=call))
    append(caller, turn("tool", "done", tool_call_id="1"), turn("user", {"parts": ["b"]}))
    found = seen(caller)
    assert [one.role for one in found.messages] == ["user", "assistant", "tool", "user"]
    assert '"arguments": "{}"' in found.messages[1].content
    read_add_write(caller, *said("z"))
    assert contents(caller) == ["a", None, "done", {"parts": ["b"]}, "z"]
    put(caller, *again(seen(caller))[1:])
    rest = [one for one in logged(caller) if one.withdrawn_at is None]
    assert [(one.content, one.tool) for one in rest][:2] == [
        (None, {"tool_calls": call}),
        ("done", {"tool_call_id": "1"}),
    ]


def test_it_may_be_of_one_version_only(caller):
    first = put(caller, *said("a"))
    assert ids(put(caller, *said("b"), match=[first.version])) == ["b"]
    with pytest.raises(PreconditionFailed):
        put(caller, *said("c"), match=[first.version])
    assert ids(seen(caller)) == ["b"]


def test_each_change_has_a_moment_of_its_own(caller):
    moment = timezone.now()
    versions = [put(caller, *said(f"{n}"), now=moment).version for n in range(5)]
    assert versions == sorted(set(versions))


def test_a_writer_that_dies_after_its_commit_has_written(caller, monkeypatch):
    put(caller, *said("a"), data={"x": 1})

    def die(**named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            put(caller, *said("a", "b"), data={"x": 2})
    assert (ids(seen(caller)), seen(caller).data) == (["a", "b"], {"x": 2})
    assert contents(caller) == ["a", "b"]
    put(caller, *said("a", "b"), data={"x": 2})
    assert (ids(seen(caller)), seen(caller).data) == (["a", "b"], {"x": 2})
    assert contents(caller) == ["a", "b"]


def test_what_fails_before_the_commit_changes_nothing(caller):
    put(caller, *said("a"), data={"x": 1})

    def fail(written, workspace):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        put(caller, *said("b"), data={"x": 2}, also=fail)
    assert (ids(seen(caller)), seen(caller).data, contents(caller)) == (["a"], {"x": 1}, ["a"])


def test_without_redis_nothing_is_written(caller, monkeypatch):
    put(caller, *said("a"))

    def away(**named):
        raise RedisAway("Redis is away.")

    with monkeypatch.context() as patch:
        patch.setattr(store, "mark", away)
        with pytest.raises(RedisAway):
            put(caller, *said("b"))
    assert ids(seen(caller)) == ["a"]


def test_when_its_hold_is_over_it_begins_anew(caller):
    put(caller, *said("a", "b"), data={"x": 1}, memories=(RECORD,), context="Before.", ttl_seconds=60)
    later = timezone.now() + timedelta(seconds=61)
    assert read(caller, later=61) is None
    after = put(caller, *said("b", "c"), now=later)
    assert (ids(after), after.data, after.memories, after.context) == (["b", "c"], None, (), "")
    found = seen(caller)
    assert (ids(found), found.data, found.context) == (["b", "c"], None, "")
    assert contents(caller) == ["b", "c"]


def test_each_write_begins_the_hold_anew(caller):
    put(caller, *said("a"), ttl_seconds=60)
    put(caller, *said("a", "b"), ttl_seconds=60, now=timezone.now() + timedelta(seconds=50))
    assert ids(read(caller, later=100)) == ["a", "b"]
    put(caller, *said("a", "b"), ttl_seconds=None)
    assert ids(read(caller, later=1_000_000)) == ["a", "b"]


def test_a_session_that_ended_goes_on(caller):
    put(caller, *said("a"))
    end_session(caller=caller, address=S, now=timezone.now())
    put(caller, *said("a", "b"))
    assert access_session(caller=caller, address=S).ended_at is None


def test_a_key_bound_to_a_user_writes_into_that_users_session(acme):
    mine = acme.with_key(user_id="ann").caller
    put(mine, *said("a"))
    assert ids(read(acme.caller, ANN)) == ["a"]
    assert read(acme.caller) is None
    with pytest.raises(Forbidden):
        put(mine, *said("b"), address=SessionAddress("s", "bob"))


@pytest.mark.parametrize("binding", ["agent_id", "project"])
def test_a_key_bound_to_another_agent_or_project_reaches_nothing(acme, binding):
    put(acme.with_key(**{binding: "one"}).caller, *said("a"))
    other = acme.with_key(**{binding: "two"}).caller
    with pytest.raises(Forbidden):
        put(other, *said("b"))
    with pytest.raises(Forbidden):
        read(other)
    assert ids(seen(acme.caller)) == ["a"]


@pytest.mark.parametrize("binding", ["agent_id", "project"])
@pytest.mark.parametrize("is_known", [True, False], ids=["known to Redis", "dropped by Redis"])
def test_a_bound_key_does_not_take_over_what_was_begun_without_agent_or_project(acme, binding, is_known):
    put(acme.caller, *said("a"))
    bound = acme.with_key(**{binding: "one"}).caller
    for write in (lambda: put(bound), lambda: put(bound, *said("b")), lambda: add(bound)):
        if not is_known:
            get_redis_connection().flushdb()
        with pytest.raises(Forbidden):
            write()
        with pytest.raises(Forbidden):
            read(bound)
    assert ids(seen(acme.caller)) == ["a"]


def test_globex_writes_a_session_of_its_own(acme, globex):
    put(acme.caller, *said("a"), data={"x": 1})
    put(globex.caller, *said("b"))
    assert (ids(seen(acme.caller)), ids(seen(globex.caller))) == (["a"], ["b"])
    assert seen(globex.caller).data is None


def test_nothing_is_written_for_a_restricted_person(acme):
    put(acme.caller, *said("a"), address=ANN)
    officer = acme.with_key(scopes=("read", "write", "privacy")).caller
    restrict_subject(caller=officer, user_id="ann", reason="contested", now=timezone.now())
    with pytest.raises(Restricted):
        put(acme.caller, *said("b"), address=ANN)
    assert read(acme.caller, ANN) is None


@pytest.fixture
def unlogged(caller):
    decide(caller, write={"events": "off"})
    return caller


def test_without_a_log_the_messages_are_in_redis_alone(unlogged):
    put(unlogged, *said("a", "b", "c"), data={"x": 1})
    assert (ids(seen(unlogged)), logged(unlogged)) == (["a", "b", "c"], [])
    put(unlogged, *said("a"), *said("b", content="B"), *said("d"))
    assert texts(seen(unlogged)) == ["a", "B", "d"] == contents(unlogged)
    assert access_session(caller=unlogged, address=S).turn_count == 3
    assert state(unlogged)["turn_count"] == "3"
    put(unlogged, *said("d", "a"))
    assert texts(seen(unlogged)) == ["d", "a"] == contents(unlogged)


def test_a_new_message_that_says_nothing_is_refused_and_begins_no_session(caller):
    with pytest.raises(EmptyMessage, match=r"empty \(message ID: a\)"):
        put(caller, *said("a", content=" "))
    assert read(caller) is None
    put(caller, *said("a"))
    for messages in (said("a", content=" "), (*said("a"), *said("b", content="\n"))):
        with pytest.raises(EmptyMessage):
            put(caller, *messages)
    assert texts(seen(caller)) == ["a"]


def test_one_that_another_client_has_put_there_is_sent_back_as_it_is(caller):
    append(caller, turn("assistant", "", id="a"), turn("assistant", " "), turn("user", "b"))
    found = seen(caller)
    put(caller, *again(found), *said("c"), last_accessed=found.changed_at)
    assert texts(seen(caller)) == ["", " ", "b", "c"]
    put(caller, *said("c"))
    put(caller, *said("c"), *again(found))
    assert texts(seen(caller)) == ["c", "", " ", "b"], "it was told of once"
    with pytest.raises(EmptyMessage):
        put(caller, *said("b", content=" "))


def test_a_version_that_a_session_cannot_have_begins_none(caller):
    with pytest.raises(PreconditionFailed):
        put(caller, *said("a"), match=[1])
    assert read(caller) is None
