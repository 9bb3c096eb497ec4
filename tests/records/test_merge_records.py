"""Records that say the same in other words become one; those that do not, stay."""

import pytest

from episodic.access import access_of
from episodic.merging import merged_ids
from episodic.records import access_record, list_records
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter
from tests.records.saving import holding, record, save, stored
from tests.records.stored import day
from tests.retention.test_expire_memory import decide

FOOD, MORE = "User likes Italian food.", "The user likes Italian food, particularly carbonara."


def test_the_fuller_text_stays_with_the_topics_and_entities_of_both(acme):
    (first,) = save(
        acme.caller, record(FOOD, id="a", topics=("food",), entities=("Italy",), created_at=day(1))
    )
    (second,) = save(
        acme.caller,
        record(MORE, id="b", topics=("taste", "food"), entities=("Italy", "pasta"), created_at=day(9),
               access_count=2, last_accessed=day(20), pinned=True, session_id="later"),
    )  # fmt: skip
    one = stored(acme.caller, second.episode)
    assert second.outcome == "merged"
    assert (one.text, one.topics, one.entities) == (MORE, ["taste", "food"], ["Italy", "pasta"])
    assert (one.created_at, one.valid_to, one.pinned_at is None) == (day(1), None, False)
    assert len(one.external_id) == 26
    used = access_of(caller=acme.caller, ids=[one.id])[one.id]
    assert (used.last_accessed_at, used.access_count) == (day(20), 2)
    assert holding(acme.caller) == [MORE]
    sources, total = list_records(caller=acme.caller, where=EpisodeFilter(history=True), limit=9)
    assert total == 3
    assert {one.superseded_by for one in sources if one.valid_to} == {one.id}
    assert set(merged_ids(one)) == {row.id for row in sources if row.valid_to}
    assert stored(acme.caller, first.episode).valid_to is not None


@pytest.mark.parametrize("texts", [(FOOD, MORE), (MORE, FOOD)])
@pytest.mark.parametrize("together", [True, False])
def test_whichever_comes_first_and_whether_in_one_call_the_fuller_is_found(acme, texts, together):
    if together:
        save(acme.caller, *texts)
    else:
        for text in texts:
            save(acme.caller, text)
    assert holding(acme.caller) == [MORE]
    vector = embed_query(FOOD, tenant_id=acme.caller.tenant_id)
    found = nearest_episodes(caller=acme.caller, vector=vector, where=EpisodeFilter(), limit=9)
    assert [one.episode.text for one in found] == [MORE]


def test_the_same_in_several_sessions_is_one_and_is_not_made_anew_each_time(acme):
    for number in range(5):
        save(acme.caller, FOOD, session_id=f"s{number}", topics=(f"t{number}",))
    found, total = list_records(caller=acme.caller, where=EpisodeFilter(), limit=9)
    assert total == 1
    assert len(merged_ids(found[0])) == 5
    assert set(found[0].topics) == {f"t{number}" for number in range(5)}


def test_of_one_call_all_that_say_the_same_become_one(acme):
    save(acme.caller, *(record(FOOD, session_id=f"s{number}") for number in range(6)), MORE)
    assert holding(acme.caller) == [MORE]


@pytest.mark.parametrize(("one", "other"), [
    ("Ana lives in Oslo", "Bob lives in Oslo"),
    ("Ana likes tea", "Ana does not like tea"),
    ("The budget is 40,000 EUR", "The budget is 55,000 EUR"),
    ("The review is on 2026-01-02", "The review is on 2026-01-03"),
    ("Ana likes tea", "Ana likes tea houses"),
    ("Ana likes tea", "Ana is fond of tea"),
])  # fmt: skip
def test_unrelated_and_contradicting_facts_stay_apart(acme, one, other):
    assert [saved.outcome for saved in save(acme.caller, one, other)] == ["created", "created"]
    assert holding(acme.caller) == sorted([one, other])


@pytest.mark.parametrize("other", [
    {"user_id": "bob"}, {"namespace": "n"}, {"memory_type": "episodic"}, {"memory_type": "message"},
    {"extraction_strategy": "summary"}, {"entities": ("Bob",)},
])  # fmt: skip
def test_what_is_another_s_or_of_another_kind_stays(acme, other):
    save(acme.caller, FOOD, entities=("Ana",))
    save(acme.caller, MORE, **other)
    assert holding(acme.caller) == sorted([FOOD, MORE])


def test_what_happened_at_another_moment_stays(acme):
    dinner = {"memory_type": "episodic"}
    save(acme.caller, "Ana had dinner with Bob.", event_date=day(1), **dinner)
    save(acme.caller, "Ana had dinner with Bob.", event_date=day(2), session_id="s", **dinner)
    save(acme.caller, "Ana had dinner with Bob.", session_id="t", **dinner)
    assert len(holding(acme.caller)) == 3


def test_turns_are_never_merged(acme):
    save(acme.caller, "user: Yes", session_id="s", memory_type="message")
    save(acme.caller, "user: Yes", session_id="t", memory_type="message")
    assert len(holding(acme.caller)) == 2


def test_globex_and_another_agent_are_not_merged_with(acme, globex):
    save(acme.caller, FOOD)
    assert save(globex.caller, MORE)[0].outcome == "created"
    assert save(acme.with_key(agent_id="ada").caller, MORE)[0].outcome == "created"
    assert holding(acme.caller) == sorted([FOOD, MORE])


def test_a_source_s_id_stands_for_what_it_became(acme):
    save(acme.caller, record(FOOD, id="a"))
    save(acme.caller, record(MORE, id="b"))
    found = {access_record(caller=acme.caller, record_id=one).text for one in "ab"}
    assert found == {MORE}


def test_a_call_that_comes_twice_changes_nothing(acme):
    for _time in range(3):
        save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    assert holding(acme.caller) == [MORE]
    assert len(list_records(caller=acme.caller, where=EpisodeFilter(history=True), limit=9)[0]) == 3


def test_a_source_that_comes_again_leaves_its_pin_and_its_topics(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    (again,) = save(acme.caller, record(FOOD, id="a", pinned=True, topics=("food",)))
    one = stored(acme.caller, again.episode)
    assert (again.outcome, one.text) == ("merged", MORE)
    assert (one.topics, one.pinned_at is not None) == (["food"], True)


def test_a_source_that_says_something_else_holds_again_beside_what_it_became(acme):
    save(acme.caller, record(FOOD, id="a"), record(MORE, id="b"))
    save(acme.caller, record("User likes Greek food.", id="a"))
    assert holding(acme.caller) == sorted([MORE, "User likes Greek food."])


def test_without_the_model_nothing_is_merged(acme, model_away):
    save(acme.caller, FOOD, MORE)
    assert holding(acme.caller) == sorted([FOOD, MORE])


def test_at_distance_0_none_is_compared_and_no_agent_decides_about_it(acme):
    decide(acme, {"records": {"deduplication_distance": 0}})
    save(acme.caller, FOOD, session_id="s")
    save(acme.caller, FOOD, session_id="t")
    assert save(acme.caller, FOOD, session_id="s")[0].outcome == "dropped"
    assert holding(acme.caller) == [FOOD, FOOD]
    admin = acme.with_key(scopes=("read", "admin")).http
    document = {"records": {"deduplication_distance": 0.1}}
    assert admin.patch("/api/v1/policy", json={"document": document, "agent_id": "ada"}).status_code == 422
