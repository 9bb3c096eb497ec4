"""A session that is sent as a whole by a client that has not read all of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from recall.sessions import end_session
from tenants.scope import scope
from tests.recall.talking import decide, exchanges, tell
from tests.working.conversation import (
    S,
    append,
    at_once,
    contents,
    turn,
)
from tests.working.workspaces import (
    again,
    get_or_create,
    ids,
    put,
    read_add_write,
    said,
    seen,
    stored_state,
    texts,
)
from working.models import Event
from working.sessions import open_session
from working.types import NewEvent, SessionAddress

ANN = SessionAddress("s", "ann")
RECORD = {"id": "r", "text": "Ann likes tea.", "memory_type": "semantic"}


def test_a_client_that_has_not_read_the_newest_takes_nothing_away(caller):
    first = put(caller, *said("a"))
    append(caller, turn("user", "late", id="late"))
    put(caller, *said("a", "mine"), last_accessed=first.changed_at)
    assert ids(seen(caller)) == ["a", "late", "mine"]


def test_updated_at_says_what_was_read(caller):
    first = put(caller, *said("a"))
    put(caller, *said("a", "late"))
    put(caller, *said("mine"), updated_at=first.changed_at, last_accessed=timezone.now())
    assert ids(seen(caller)) == ["late", "mine"]
    put(caller, *said("mine"), updated_at=seen(caller).changed_at)
    assert ids(seen(caller)) == ["mine"]


def test_an_object_that_was_made_before_and_is_sent_later_replaces(caller):
    put(caller)
    made_at = timezone.now()
    put(caller, *said("a", "b"))
    put(caller, *said("c"), last_accessed=made_at)
    assert ids(seen(caller)) == ["c"]


def test_an_empty_one_of_a_client_that_found_none_takes_nothing_away(caller):
    made_at = timezone.now()
    put(caller, *said("a"), data={"x": 1}, context="Before.")
    put(caller, last_accessed=made_at)
    found = seen(caller)
    assert (ids(found), found.context) == (["a"], "Before.")


def test_nor_does_one_that_is_begun_after_others_were_quicker(caller):
    put(caller, *said("a"), data={"x": 1}, context="Before.", strategy={"strategy": "summary", "config": {}})
    put(caller, data={}, last_accessed=timezone.now())
    found = seen(caller)
    assert (ids(found), found.data, found.context) == (["a"], {"x": 1}, "Before.")
    assert found.strategy["strategy"] == "summary"


def test_one_that_is_begun_long_after_replaces(caller):
    put(caller, *said("a"))
    later = timezone.now() + timedelta(minutes=2)
    put(caller, data={}, last_accessed=later, now=later)
    assert ids(seen(caller)) == []


def test_who_reads_a_session_in_which_nothing_is_yet_takes_nothing_away(caller):
    open_session(caller=caller, address=S, now=timezone.now())
    found = seen(caller)
    put(caller, *said("a"), last_accessed=found.changed_at)
    put(caller, *said("b"), last_accessed=found.changed_at)
    assert ids(seen(caller)) == ["a", "b"]


def test_an_empty_one_of_a_client_that_has_read_all_empties_it(caller):
    put(caller, *said("a"))
    put(caller, last_accessed=seen(caller).changed_at)
    assert ids(seen(caller)) == [] == contents(caller)


def test_the_first_whole_of_a_session_that_is_talked_in_takes_no_later_turn_away(caller):
    append(caller, turn("user", "a", id="a"))
    made_at = timezone.now()
    append(caller, turn("user", "b", id="b"))
    put(caller, *said("c"), last_accessed=made_at)
    assert ids(seen(caller)) == ["b", "c"]


@pytest.mark.parametrize("change", ["a note", "its end"])
def test_a_moment_that_another_change_made_was_read_as_well(caller, change):
    put(caller, *said("a"))
    if change == "its end":
        end_session(caller=caller, address=S, now=timezone.now())
    else:
        append(caller, NewEvent("note", {"x": 1}, timezone.now()))
    found = seen(caller)
    append(caller, turn("user", "late", id="late"))
    put(caller, *again(found), *said("mine"), last_accessed=found.changed_at)
    assert ids(seen(caller)) == ["a", "late", "mine"]


@pytest.mark.parametrize("exists", [True, False])
def test_twenty_that_read_add_and_write_keep_twenty_messages(caller, exists):
    if exists:
        put(caller, *said("before"))
    at_once(*(lambda n=n: read_add_write(caller, *said(f"{n}")) for n in range(20)))
    found = ids(seen(caller))
    assert sorted(found) == sorted([*(["before"] if exists else []), *(f"{n}" for n in range(20))])
    assert contents(caller) == texts(seen(caller))


def test_ten_that_add_their_records_keep_them_all(caller):
    get_or_create(caller)

    def write(n):
        found = seen(caller)
        mine = {**RECORD, "id": f"{n}", "text": f"Fact {n}."}
        put(caller, memories=(*found.memories, mine), last_accessed=found.changed_at)

    at_once(*(lambda n=n: write(n) for n in range(10)))
    assert {one["id"] for one in seen(caller).memories} == {f"{n}" for n in range(10)}


def test_a_record_that_says_the_same_keeps_when_it_was_remembered(caller):
    put(caller, memories=(RECORD,))
    state = stored_state(caller)
    state.memories[0]["persisted_at"] = "2026-01-01T00:00:00+00:00"
    with scope(caller.tenant_id):
        state.save(update_fields=["memories"])
    put(caller, memories=(RECORD,))
    assert seen(caller).memories[0]["persisted_at"] == "2026-01-01T00:00:00+00:00"
    put(caller, memories=({**RECORD, "text": "Ann likes coffee."},))
    assert not seen(caller).memories[0].get("persisted_at")


def test_without_a_log_nothing_is_lost_either(caller):
    decide(caller, write={"events": "off"})
    at_once(*(lambda n=n: read_add_write(caller, *said(f"{n}")) for n in range(12)))
    assert sorted(ids(seen(caller)), key=int) == [f"{n}" for n in range(12)]


def test_what_a_summary_has_taken_meanwhile_does_not_come_again(caller):
    decide(caller, summary={"every_turns": 8})
    tell(caller, *exchanges(1, 3))
    found = seen(caller)
    tell(caller, *exchanges(4, 4))
    put(caller, *again(found), *said("mine"), last_accessed=found.changed_at, context=found.context)
    after = seen(caller)
    assert texts(after) == ["u3", "a3", "u4", "a4", "mine"]
    assert "u1" in after.context


def test_a_message_that_was_edited_and_then_kept_by_a_summary_is_not_taken_for_summarised(caller):
    put(caller, *said("a", "b", "c"))
    put(caller, *said("a", content="A"), *said("b", "c"))
    decide(caller, summary={"every_turns": 4}, working={"turns": 2})
    tell(caller, turn("user", "d", id="d"))
    kept = seen(caller)
    assert texts(kept) == ["c", "d"]
    put(caller, *again(kept), *said("e"), last_accessed=kept.changed_at, context=kept.context)
    assert texts(seen(caller)) == ["c", "d", "e"]


def test_a_new_object_of_what_was_read_takes_nothing_away_that_came_lately(caller):
    found = put(caller, *said("a"), memories=(RECORD,))
    append(caller, turn("user", "late", id="late"))
    put(caller, *again(found), memories=tuple(found.memories), data={"x": 1}, last_accessed=timezone.now())
    after = seen(caller)
    assert (ids(after), after.data, [one["id"] for one in after.memories]) == (["a", "late"], {"x": 1}, ["r"])


def test_nor_does_one_that_was_made_before_it_came(caller):
    found = put(caller, *said("a"))
    made_at = timezone.now()
    append(caller, turn("user", "late", id="late"))
    put(caller, *again(found), data={"x": 1}, last_accessed=made_at)
    assert ids(seen(caller)) == ["a", "late"]


def test_the_last_message_may_be_taken_back_some_time_later(caller):
    put(caller, *said("a", "b"))
    later = timezone.now() + timedelta(minutes=2)
    put(caller, *said("a"), last_accessed=later, now=later)
    assert ids(seen(caller)) == ["a"]


def test_at_once_by_a_client_that_says_what_it_has_read_or_nothing_of_it(caller):
    put(caller, *said("a", "b", "c"))
    put(caller, *said("a", "b"), last_accessed=seen(caller).changed_at)
    assert ids(seen(caller)) == ["a", "b"]
    put(caller, *said("a"))
    assert ids(seen(caller)) == ["a"]


def test_and_by_one_that_names_the_version(caller):
    found = put(caller, *said("a", "b"))
    put(caller, *said("a"), last_accessed=timezone.now(), match=[found.version])
    assert ids(seen(caller)) == ["a"]


def test_of_what_is_taken_back_only_what_came_lately_stays(caller):
    put(caller, *said("a", "old"))
    with scope(caller.tenant_id):
        Event.objects.filter(tenant_id=caller.tenant_id).update(
            recorded_at=timezone.now() - timedelta(minutes=2)
        )
    append(caller, turn("user", "late", id="late"))
    put(caller, *said("a"), last_accessed=timezone.now())
    assert ids(seen(caller)) == ["a", "late"]


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ((), []),
        (said("b"), ["b"]),
        (said("b", "a"), ["b", "a"]),
        (said("a", "mine"), ["a", "mine"]),
        (said("a", content="A"), ["A"]),
        (said("a", role="system"), ["a"]),
    ],
)
def test_a_new_object_that_says_something_else_replaces(caller, sent, left):
    put(caller, *said("a", "b"))
    put(caller, *sent, data={"x": 1}, last_accessed=timezone.now())
    assert texts(seen(caller)) == left
