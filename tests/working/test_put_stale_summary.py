"""The summary of a session that is sent as a whole by a client that has not read all of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from recall.sessions import end_session
from tenants.scope import scope
from tests.recall.talking import decide, exchanges, tell
from tests.working.conversation import S, append, turn
from tests.working.workspaces import add, again, ids, put, read_add_write, said, seen, texts
from working.models import Session
from working.sessions import access_session
from working.summaries import announce_summary, replace_summary
from working.types import NewEvent


def test_a_summary_that_a_client_does_not_know_stays(caller):
    first = put(caller, *said("a"))
    put(caller, *said("a"), context="By another.")
    put(caller, *said("a", "b"), last_accessed=first.changed_at)
    assert seen(caller).context == "By another."
    put(caller, *said("a", "b"), context="Mine.", last_accessed=seen(caller).changed_at)
    assert seen(caller).context == "Mine."


LEAVES_IT = {
    "a turn": lambda caller: append(caller, turn("user", "late", id="late")),
    "a message": lambda caller: add(caller, *said("late")),
    "a client that adds": lambda caller: read_add_write(caller, *said("late")),
}


@pytest.mark.parametrize("context", ["New.", None])
@pytest.mark.parametrize("change", LEAVES_IT)
def test_a_summary_that_nobody_has_changed_since_is_the_clients_to_change(caller, change, context):
    put(caller, *said("a"), context="Old.")
    found = put(caller, *said("a"), context="Old.", data={"x": 1})
    LEAVES_IT[change](caller)
    after = put(caller, *again(found), context=context, last_accessed=found.changed_at)
    assert (after.context, ids(after)) == (context or "", ["a", "late"])
    assert seen(caller).context == (context or "")


def test_a_summary_of_which_nobody_knows_since_when_stays(caller):
    """As those of earlier versions and imported ones have it."""
    found = put(caller, *said("a"), context="Old.")
    append(caller, turn("user", "late", id="late"))
    with scope(caller.tenant_id):
        Session.objects.filter(id=access_session(caller=caller, address=S).id).update(summary_at=None)
    put(caller, *again(found), context=None, last_accessed=found.changed_at)
    assert seen(caller).context == "Old."
    put(caller, *again(seen(caller)), context="New.", last_accessed=seen(caller).changed_at)
    assert seen(caller).context == "New."


def reword(caller):
    session = access_session(caller=caller, address=S)
    announced = announce_summary(session=session)
    with scope(caller.tenant_id):
        replace_summary(announced=announced, session=session, better=lambda _locked: "In better words.")


def compact_by_a_note(caller):
    decide(caller, summary={"every_turns": 4}, working={"turns": 2})
    tell(caller, NewEvent("note", {"x": 1}, timezone.now()))


@pytest.mark.parametrize(
    "change",
    [
        lambda caller: put(caller, *again(seen(caller)), context="By another."),
        lambda caller: end_session(caller=caller, address=S, now=timezone.now()),
        reword,
        compact_by_a_note,
    ],
    ids=["another sets it", "an end", "a model", "a note"],
)
@pytest.mark.parametrize("sent", ["New.", None])
def test_whoever_has_changed_it_since_has_the_last_word(caller, change, sent):
    tell(caller, *exchanges(1, 4))
    found = put(caller, *again(seen(caller)), context="Old.")
    change(caller)
    summary = seen(caller).context
    assert summary not in ("", "Old.")
    append(caller, turn("user", "late", id="late"))
    put(caller, *again(found), context=sent, last_accessed=found.changed_at)
    assert seen(caller).context == summary
    known = seen(caller)
    append(caller, turn("user", "later", id="later"))
    put(caller, *again(known), context="New.", last_accessed=known.changed_at)
    assert seen(caller).context == "New."


def test_of_a_new_object_that_lacks_what_came_lately_the_summary_counts_unless_it_came_lately_too(caller):
    found = put(caller, *said("a"), context="Old.")
    append(caller, turn("user", "late", id="late"))
    put(caller, *again(found), context="New.", last_accessed=timezone.now())
    assert seen(caller).context == "Old."
    later = timezone.now() + timedelta(minutes=2)
    put(caller, *again(found), context="New.", last_accessed=later, now=later)
    assert (seen(caller).context, ids(seen(caller))) == ("New.", ["a"])


def test_nor_is_one_lost_that_came_while_a_new_object_was_made(caller):
    decide(caller, summary={"every_turns": 8})
    tell(caller, *exchanges(1, 3))
    found = seen(caller)
    put(caller, *again(found))
    tell(caller, *exchanges(4, 4))
    put(caller, *again(found), data={"x": 1}, context=found.context or None, last_accessed=timezone.now())
    after = seen(caller)
    assert texts(after) == ["u3", "a3", "u4", "a4"]
    assert "u1" in after.context
