"""Which session an observation belongs to is corrected: to one that is there, and of the same person."""

import pytest

from observations.validation import InvalidObservation
from tests.observations.notes import edit, listed, note, revisions, row_of


@pytest.fixture
def anns(caller):
    """One of Ann's, in her session; she has another one, and so have Bob and nobody."""
    for user, session in (("ann", "s2"), ("bob", "of-bob"), ("", "of-nobody")):
        note(caller, f"In {session}.", session_id=session, user_id=user)
    return note(caller, "Likes trains.", session_id="s1", user_id="ann").observation


def test_it_goes_to_another_session_of_the_same_person(caller, anns):
    edit(caller, anns.id, session_id="s2")
    assert row_of(caller, anns.id).session == "s2"
    assert {one.content for one in listed(caller, session_id="s2")} == {"In s2.", "Likes trains."}
    assert revisions(caller, anns.id) == [], "it says what it said"


def test_it_belongs_to_none(caller, anns):
    edit(caller, anns.id, session_id="")
    assert row_of(caller, anns.id).session == ""
    edit(caller, anns.id, session_id="s1")
    assert row_of(caller, anns.id).session == "s1"


@pytest.mark.parametrize("session", ["of-bob", "of-nobody", "never was", "x" * 256, "\x00"])
def test_a_session_of_others_or_of_no_one_is_refused(caller, anns, session):
    with pytest.raises(InvalidObservation, match="session_id"):
        edit(caller, anns.id, session_id=session, title="New")
    assert (row_of(caller, anns.id).session, row_of(caller, anns.id).title) == ("s1", "Cluster")


def test_a_neighbours_session_is_refused(caller, globex, anns):
    note(globex.caller, "Theirs.", session_id="of-globex", user_id="ann")
    with pytest.raises(InvalidObservation):
        edit(caller, anns.id, session_id="of-globex")


def test_nobodys_goes_to_a_session_of_nobodys(caller, anns):
    one = note(caller, "Nobody's.", session_id="of-nobody").observation
    note(caller, "Other.", session_id="of-nobody-either")
    assert edit(caller, one.id, session_id="of-nobody-either").session == "of-nobody-either"
    with pytest.raises(InvalidObservation):
        edit(caller, one.id, session_id="of-bob")
