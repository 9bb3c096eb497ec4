"""What a session is sent with is remembered once, whatever is done to the session before that."""

from datetime import timedelta

import pytest
from django.utils import timezone

from recall import promotion, sessions
from recall.promotion import StillWaiting
from recall.sessions import clean_up_sessions, delete_session, delete_session_row
from recall.working_memory import delete_working_memory
from tenants.errors import Restricted
from tests.recall.talking import decide, run_jobs, session_of
from tests.recall.test_promote import ANN, BIKE, TEA, by_id, decisions, hold_back, records, release
from tests.recall.whole_sessions import add, put
from tests.working.conversation import S, at_once
from tests.working.workspaces import read, said, seen, stored_state

SECRET = {"id": "secret", "text": "My password is hunter2hunter2."}


def names(caller):
    return sorted(one.external_id for one in records(caller))


def left_in(caller, address=S):
    return sorted(one["id"] for one in stored_state(caller, address).memories)


def delete(caller, address=S):
    return delete_working_memory(caller=caller, address=address, now=timezone.now())


def clean_up(caller):
    later = timezone.now() + timedelta(days=1)
    return clean_up_sessions(caller=caller, unused_since=later, now=later).removed == 1


DOORS = {
    "working memory": delete,
    "session": lambda caller: delete_session(caller=caller, address=S, now=timezone.now()).found,
    "row": lambda caller: (
        delete_session_row(caller=caller, row_id=session_of(caller).id, now=timezone.now()).found
    ),
    "clean-up": clean_up,
}


def test_one_that_the_next_write_lacks_is_remembered_and_not_shown(caller):
    put(caller, memories=(TEA,))
    done = put(caller, *said("a"), memories=(BIKE,))
    assert set(by_id(done)) == set(by_id(seen(caller))) == {"bike"}
    run_jobs()
    assert names(caller) == ["bike", "tea"]
    assert set(by_id(seen(caller))) == {"bike"}
    assert left_in(caller) == ["bike"]


def test_one_that_is_sent_again_is_shown_again(caller):
    put(caller, memories=(TEA,))
    put(caller)
    put(caller, memories=(BIKE,))
    put(caller, memories=(TEA,))
    assert set(by_id(seen(caller))) == {"tea"}
    run_jobs()
    assert [(one.external_id, one.version) for one in records(caller)] == [("tea", 1), ("bike", 1)]
    assert by_id(seen(caller))["tea"]["persisted_at"]
    assert left_in(caller) == ["tea"]


def test_what_is_remembered_already_goes_when_it_is_left_out(caller):
    put(caller, memories=(TEA,))
    run_jobs()
    put(caller, memories=(BIKE,))
    assert left_in(caller) == ["bike"]


def test_one_that_may_not_be_remembered_goes_as_well(caller):
    decide(caller, sensitive={"secrets": "refuse"})
    put(caller, memories=(SECRET,))
    put(caller)
    run_jobs()
    assert (names(caller), left_in(caller), len(decisions(caller))) == ([], [], 1)


def test_many_at_once_of_which_none_knows_the_others_are_all_remembered(caller):
    put(caller, *said("a"))
    mine = [{"id": f"{n}", "text": f"Room {n} holds {n * 17 + 3} lamps."} for n in range(8)]
    at_once(*(lambda one=one: put(caller, memories=(one,)) for one in mine))
    run_jobs()
    assert names(caller) == [f"{n}" for n in range(8)]


def test_one_that_is_left_out_while_it_is_saved_is_saved_once(caller, monkeypatch):
    put(caller, memories=(TEA,))
    save = promotion.save_records

    def meanwhile(**named):
        monkeypatch.setattr(promotion, "save_records", save)
        put(caller, memories=(BIKE,))
        return save(**named)

    monkeypatch.setattr(promotion, "save_records", meanwhile)
    run_jobs()
    assert sorted((one.external_id, one.version) for one in records(caller)) == [("bike", 1), ("tea", 1)]
    assert left_in(caller) == ["bike"]


@pytest.mark.parametrize("write", [put, add])
def test_a_hold_that_ends_before_takes_nothing_away(caller, write):
    put(caller, memories=(TEA,), ttl_seconds=0)
    assert read(caller) is None
    write(caller, *said("a"))
    assert seen(caller).memories == ()
    run_jobs()
    assert (names(caller), left_in(caller)) == (["tea"], [])


@pytest.mark.parametrize("door", DOORS)
def test_a_session_that_is_deleted_leaves_what_waited(caller, door):
    put(caller, memories=(TEA,))
    put(caller, memories=(BIKE,))
    assert DOORS[door](caller)
    assert read(caller) is None
    run_jobs()
    assert sorted((one.external_id, one.version) for one in records(caller)) == [("bike", 1), ("tea", 1)]


def test_so_does_one_while_no_model_embeds(caller, model_away):
    put(caller, memories=(TEA,))
    assert delete(caller)
    (tea,) = records(caller)
    assert tea.embed_pending


def test_what_may_not_be_remembered_is_noted_once_at_the_deletion(caller):
    decide(caller, sensitive={"secrets": "refuse"})
    put(caller, memories=(SECRET, BIKE))
    assert delete(caller)
    run_jobs()
    assert (names(caller), len(decisions(caller))) == (["bike"], 1)


def test_what_comes_while_the_session_goes_is_remembered_too(caller, monkeypatch):
    put(caller, memories=(TEA,))
    promote = sessions.promote_waiting

    def meanwhile(**named):
        monkeypatch.setattr(sessions, "promote_waiting", promote)
        promote(**named)
        put(caller, memories=(BIKE,))

    monkeypatch.setattr(sessions, "promote_waiting", meanwhile)
    assert delete(caller)
    assert read(caller) is None
    assert names(caller) == ["bike", "tea"]


def test_a_session_to_which_records_come_all_the_time_is_not_deleted(caller, monkeypatch):
    put(caller, *said("a"), memories=(TEA,))
    monkeypatch.setattr(sessions, "promote_waiting", lambda **_named: None)
    with pytest.raises(StillWaiting):
        delete(caller)
    assert [one.id for one in seen(caller).messages] == ["a"]


def test_one_that_waits_for_a_restricted_person_keeps_the_session(acme):
    caller = acme.caller
    put(caller, memories=(TEA, {**BIKE, "user_id": "bob"}), address=ANN)
    hold_back(acme, "bob")
    with pytest.raises(Restricted):
        delete(caller, ANN)
    assert not clean_up(caller)
    assert set(by_id(seen(caller, ANN))) == {"tea", "bike"}
    release(acme, "bob")
    assert delete(caller, ANN)
    assert {one.external_id: one.user_id for one in records(caller)} == {"tea": "ann", "bike": "bob"}


def test_without_long_term_memory_nothing_stays_aside(caller, settings):
    settings.LONG_TERM_MEMORY = False
    put(caller, memories=(TEA,), ttl_seconds=0)
    put(caller, memories=(TEA,))
    put(caller, memories=(BIKE,))
    assert left_in(caller) == ["bike"]
    assert delete(caller)
    assert names(caller) == []
