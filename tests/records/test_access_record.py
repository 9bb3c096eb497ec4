"""Which record an id stands for, and the list of all."""

import pytest
from django.utils import timezone

from episodic.episodes import store_episode
from episodic.record_tests import FieldTest
from episodic.records import access_record, list_records
from episodic.retraction import retract_episode
from episodic.types import EpisodeFilter, NewEpisode
from tenants.errors import Conflict, Forbidden, NotFound
from tests.records.saving import record, save
from tests.records.stored import day, put


def read(caller, record_id):
    return access_record(caller=caller, record_id=record_id)


def test_a_client_s_id_and_an_episode_s_own_id_stand_for_it(acme):
    (saved,) = save(acme.caller, record("Ana lives in Oslo.", id="r/1 ü"))
    told = store_episode(caller=acme.caller, new=NewEpisode(text="told otherwise"), now=timezone.now())
    assert read(acme.caller, "r/1 ü").id == saved.episode.id
    assert read(acme.caller, str(told.id)).text == "told otherwise"


@pytest.mark.parametrize(
    "record_id", ["", "nothing", "x" * 300, "a\x00", "018f0000-0000-7000-8000-000000000000"]
)
def test_what_there_is_not_is_not_found(acme, record_id):
    save(acme.caller, record("Ana lives in Oslo.", id="r"))
    with pytest.raises(NotFound):
        read(acme.caller, record_id)


def test_what_holds_no_more_is_not_found(acme):
    (saved,) = save(acme.caller, record("Ana lives in Oslo.", id="r"))
    retract_episode(caller=acme.caller, episode_id=saved.episode.id, now=timezone.now())
    with pytest.raises(NotFound):
        read(acme.caller, "r")


def test_an_id_that_two_people_use_is_never_guessed(acme):
    save(acme.caller, record("Ana lives in Oslo.", id="home"))
    save(acme.caller, record("Bob lives in Rome.", id="home", user_id="bob"))
    with pytest.raises(Conflict):
        read(acme.caller, "home")
    alice, bob, carol = (acme.with_key(user_id=one).caller for one in ("alice", "bob", "carol"))
    assert read(alice, "home").text == "Ana lives in Oslo."
    assert read(bob, "home").text == "Bob lives in Rome."
    with pytest.raises(NotFound):
        read(carol, "home")


def test_globex_and_another_agent_do_not_find_it(acme, globex):
    (saved,) = save(acme.with_key(agent_id="ada").caller, record("Ana lives in Oslo.", id="r"))
    for caller in (globex.caller, acme.with_key(agent_id="bob").caller, acme.with_key(project="p").caller):
        for record_id in ("r", str(saved.episode.id)):
            with pytest.raises(NotFound):
                read(caller, record_id)


def test_the_list_is_newest_first_in_pages_with_the_true_total(acme):
    put(acme.caller, *({"text": f"{n}", "created_at": day(n), "user_id": "alice"} for n in range(7)))
    pages = [
        list_records(caller=acme.caller, where=EpisodeFilter(user_id="alice"), limit=3, offset=offset)
        for offset in (0, 3, 6, 9)
    ]
    assert [[one.text for one in page] for page, _total in pages] == [
        ["6", "5", "4"], ["3", "2", "1"], ["0"], []
    ]  # fmt: skip
    assert {total for _page, total in pages} == {7}


def test_the_list_has_what_meets_the_tests_and_the_key_reaches(acme):
    put(acme.caller, *({"text": one, "user_id": one, "topics": [one]} for one in ("alice", "bob")))
    where = EpisodeFilter(tests=(FieldTest("topics", "any", ("alice", "bob")),))
    alice = acme.with_key(user_id="alice").caller
    assert [one.text for one in list_records(caller=alice, where=where, limit=9)[0]] == ["alice"]
    with pytest.raises(Forbidden):
        list_records(caller=alice, where=EpisodeFilter(user_id="bob"), limit=9)
    named = EpisodeFilter(tests=(FieldTest("user_id", "eq", "bob"),))
    assert list_records(caller=alice, where=named, limit=9) == ([], 0)
