"""Taking a merge back, by the domain and by the native route."""

import pytest
from django.utils import timezone

from episodic.models import Episode
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter
from episodic.unmerging import unmerge
from tenants.audit import list_entries
from tenants.errors import Conflict, NotFound
from tests.records.saving import holding, record, save, stored

FOOD, MORE = "User likes Italian food.", "The user likes Italian food, particularly carbonara."


def merged(member):
    *_first, last = save(member.caller, record(FOOD, id="a"), record(MORE, id="b"))
    assert last.outcome == "merged"
    return last.episode


def undo(caller, episode: Episode):
    return unmerge(caller=caller, episode_id=episode.id, now=timezone.now())


def test_the_sources_hold_again_and_are_found_and_the_merged_one_is_closed(acme):
    one = merged(acme)
    undone = undo(acme.caller, one)
    assert (undone.id, undone.valid_to is not None) == (one.id, True)
    assert holding(acme.caller) == sorted([FOOD, MORE])
    vector = embed_query(FOOD, tenant_id=acme.tenant.id)
    found = nearest_episodes(caller=acme.caller, vector=vector, where=EpisodeFilter(), limit=9)
    assert sorted(hit.episode.text for hit in found) == sorted([FOOD, MORE])
    (entry,) = list_entries(caller=acme.caller, limit=9, action="episode.unmerge")
    assert (entry.target, len(entry.details["sources"])) == (str(one.id), 2)


def test_twice_is_the_same_as_once(acme):
    one = merged(acme)
    assert undo(acme.caller, one).version == undo(acme.caller, one).version
    assert len(list_entries(caller=acme.caller, limit=9, action="episode.unmerge")) == 1


def test_what_was_taken_apart_is_not_merged_again(acme):
    undo(acme.caller, merged(acme))
    save(acme.caller, record(FOOD, id="a", topics=("food",)), record(MORE, id="b", topics=("food",)))
    assert holding(acme.caller) == sorted([FOOD, MORE])


def test_a_merge_of_a_merge_is_undone_from_the_last_on(acme):
    first = merged(acme)
    third = "The user likes Italian food, particularly carbonara, and pizza."
    (last,) = save(acme.caller, record(third, id="c"))
    assert last.outcome == "merged"
    with pytest.raises(Conflict):
        undo(acme.caller, first)
    undo(acme.caller, last.episode)
    assert holding(acme.caller) == sorted([MORE, third])
    undo(acme.caller, first)
    assert holding(acme.caller) == sorted([FOOD, MORE, third])


def test_only_what_a_merge_has_made_and_the_key_reaches_can_be_taken_apart(acme, globex):
    (plain,) = save(acme.caller, "Ana lives in Oslo.")
    with pytest.raises(Conflict):
        undo(acme.caller, plain.episode)
    one = merged(acme)
    for caller in (globex.caller, acme.with_key(user_id="bob").caller, acme.with_key(agent_id="ada").caller):
        with pytest.raises(NotFound):
            undo(caller, one)
    assert stored(acme.caller, one).valid_to is None


def test_the_route_answers_the_closed_record_once(acme):
    one = merged(acme)
    url, key = f"/api/v1/episodes/{one.id}/unmerge", {"Idempotency-Key": "k"}
    answers = [acme.http.post(url, headers=key) for _time in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["valid_to"] is not None
    assert answers[0].headers["ETag"] == f'"{stored(acme.caller, one).version}"'
    assert acme.with_key(scopes=("read",)).http.post(url).status_code == 403
    assert acme.http.post(f"/api/v1/episodes/{stored_plain(acme)}/unmerge").status_code == 409


def stored_plain(member):
    (plain,) = save(member.caller, "Ana lives in Oslo.")
    return plain.episode.id
