"""Deleting records for good."""

import pytest
from django.utils import timezone

from episodic.models import Episode, EpisodeRevision
from episodic.records import delete_records, edit_record
from tenants.audit import list_entries
from tenants.errors import Conflict
from tenants.scope import scope
from tests.records.saving import holding, record, save

FOOD, MORE = "User likes Italian food.", "The user likes Italian food, particularly carbonara."


def delete(caller, *ids):
    return delete_records(caller=caller, record_ids=ids, now=timezone.now())


def left(caller):
    with scope(caller.tenant_id):
        return sorted(Episode.objects.values_list("text", flat=True))


def test_those_that_there_are_go_with_their_history_and_the_log_tells_of_each(acme):
    (first, second, _third) = save(acme.caller, *(record(f"Fact {n} of Ana.", id=f"r{n}") for n in range(3)))
    edit_record(caller=acme.caller, record_id="r0", changes={"text": "Changed."}, now=timezone.now())
    assert delete(acme.caller, "r0", "r1", "r1", "nothing", "") == 2
    assert left(acme.caller) == ["Fact 2 of Ana."]
    with scope(acme.tenant.id):
        assert not EpisodeRevision.objects.exists()
    targets = {one.target for one in list_entries(caller=acme.caller, limit=9, action="episode.delete")}
    assert targets == {str(first.episode.id), str(second.episode.id)}
    assert delete(acme.caller, "r0") == 0


def test_a_merged_record_goes_with_what_it_was_made_of(acme):
    *_first, last = save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    assert delete(acme.caller, last.episode.external_id) == 1
    assert left(acme.caller) == []


def test_without_one_source_the_others_hold_as_if_it_had_never_been_saved(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    assert delete(acme.caller, "b") == 1
    assert holding(acme.caller) == [FOOD]
    assert left(acme.caller) == [FOOD]


def test_all_sources_at_once_leave_nothing(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    assert delete(acme.caller, "a", "b") == 2
    assert left(acme.caller) == []


def test_what_is_out_of_reach_stays(acme, globex):
    save(acme.caller, record(FOOD, id="a"))
    callers = [globex.caller, acme.with_key(user_id="bob").caller, acme.with_key(agent_id="ada").caller]
    assert [delete(one, "a") for one in callers] == [0, 0, 0]
    assert holding(acme.caller) == [FOOD]


def test_an_id_that_two_people_use_deletes_nothing(acme):
    save(acme.caller, record(FOOD, id="a"), record(FOOD, id="a", user_id="bob"), record("Else.", id="c"))
    with pytest.raises(Conflict):
        delete(acme.caller, "c", "a")
    assert len(left(acme.caller)) == 3
    assert delete(acme.with_key(user_id="bob").caller, "a") == 1
