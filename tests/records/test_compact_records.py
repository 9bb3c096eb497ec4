"""Compaction finds what was not compared when it was saved."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from episodic import compacting
from episodic.access import access_of
from episodic.compacting import compact_records, enqueue_compaction
from episodic.embedding import embed_pending
from episodic.episodes import store_episode
from episodic.forgetting import ForgetPolicy, forget_records
from episodic.merging import merged_ids
from episodic.records import access_record, delete_records, list_records
from episodic.tasks import retain
from episodic.types import EpisodeFilter, NewEpisode
from episodic.unmerging import unmerge
from providers import embeddings
from tenants.errors import Forbidden
from tests.records.saving import done_by_jobs, holding, record, save
from tests.records.stored import day
from tests.retention.test_expire_memory import decide

FOOD, MORE = "User likes Italian food.", "User likes Italian food, and pizza."
OSLO = "Ana lives in Oslo."


def compact(caller, **named):
    return compact_records(caller=caller, now=timezone.now(), **named)


def keep(caller, *texts, **named):
    """Saved without being compared."""
    return save(caller, *texts, deduplicate=False, **named)


def only(caller):
    (one,), _total = list_records(caller=caller, where=EpisodeFilter(), limit=9)
    return one


def test_of_what_is_said_word_for_word_one_is_left_for_all_ids(acme):
    keep(acme.caller, *(record(OSLO, id=f"r{n}", created_at=day(n)) for n in (2, 3, 1)))
    done = compact(acme.caller)
    assert (done.duplicates, done.merged, done.remaining, done.next) == (2, 0, 1, None)
    one = only(acme.caller)
    assert (one.text, one.created_at) == (OSLO, day(1))
    assert access_of(caller=acme.caller, ids=[one.id])[one.id].last_accessed_at == day(3)
    assert {access_record(caller=acme.caller, record_id=f"r{n}").id for n in (1, 2, 3)} == {one.id}
    again = compact(acme.caller)
    assert (again.duplicates, again.merged, again.remaining) == (0, 0, 1)


def test_it_has_what_all_of_them_had_and_is_not_forgotten_if_one_is_pinned(acme):
    keep(
        acme.caller,
        record(OSLO, id="p", pinned=True, created_at=day(1), topics=("home",), access_count=2,
               event_date=day(0), metadata={"by": "p", "at": 1}),
        record(OSLO, id="q", created_at=day(2), topics=("city",), access_count=3, metadata={"by": "q"}),
    )  # fmt: skip
    compact(acme.caller)
    one = only(acme.caller)
    assert (one.pinned_at is not None, one.event_date) == (True, day(0))
    assert (one.topics, one.metadata) == (["city", "home"], {"by": "q", "at": 1})
    assert access_of(caller=acme.caller, ids=[one.id])[one.id].access_count == 5
    policy, where = ForgetPolicy(max_age_days=30), EpisodeFilter()
    later = timezone.now() + timedelta(days=300)
    gone = forget_records(caller=acme.caller, policy=policy, where=where, dry_run=False, now=later)
    assert (gone.deleted, holding(acme.caller)) == (0, [OSLO])


def test_what_is_word_for_word_the_same_is_taken_apart_for_good(acme):
    keep(acme.caller, *(record(OSLO, id=name) for name in "pq"))
    compact(acme.caller)
    unmerge(caller=acme.caller, episode_id=only(acme.caller).id, now=timezone.now())
    assert compact(acme.caller).duplicates == 0
    keep(acme.caller, record(OSLO, id="r"))
    for _night in range(2):
        compact(acme.caller)
        assert holding(acme.caller) == [OSLO, OSLO]


def test_later_ones_join_the_one_that_there_is(acme):
    for name in "pqrs":
        keep(acme.caller, record(OSLO, id=name, access_count=1))
        compact(acme.caller)
    one = only(acme.caller)
    assert len(merged_ids(one)) == 4
    assert access_of(caller=acme.caller, ids=[one.id])[one.id].access_count == 4
    assert delete_records(caller=acme.caller, record_ids=["s"], now=timezone.now()) == 1
    assert holding(acme.caller) == [OSLO] * 3


def test_what_one_says_with_more_becomes_one_with_the_fuller_text(acme):
    first, _second = keep(
        acme.caller,
        record(FOOD, id="a", topics=("food",), created_at=day(1), access_count=2),
        record(MORE, id="b", topics=("taste",), created_at=day(2)),
    )
    done = compact(acme.caller)
    assert (done.duplicates, done.merged, done.remaining) == (0, 2, 1)
    (one,), _total = list_records(caller=acme.caller, where=EpisodeFilter(), limit=9)
    assert (one.text, one.topics, one.created_at) == (MORE, ["taste", "food"], day(1))
    assert first.episode.id in merged_ids(one)
    assert access_of(caller=acme.caller, ids=[one.id])[one.id].access_count == 2
    again = compact(acme.caller)
    assert (again.duplicates, again.merged, again.remaining) == (0, 0, 1)


def test_another_that_says_no_more_is_taken_in(acme):
    keep(acme.caller, FOOD, MORE)
    compact(acme.caller)
    keep(acme.caller, record("User likes Italian food", id="late", topics=("late",)))
    assert compact(acme.caller).merged == 1
    (one,), _total = list_records(caller=acme.caller, where=EpisodeFilter(), limit=9)
    assert len(merged_ids(one)) == 3
    assert one.topics == ["late"]
    unmerge(caller=acme.caller, episode_id=one.id, now=timezone.now())
    assert holding(acme.caller) == sorted([FOOD, MORE, "User likes Italian food"])


def test_what_was_taken_apart_is_not_merged_again(acme):
    keep(acme.caller, FOOD, MORE)
    compact(acme.caller)
    (one,), _total = list_records(caller=acme.caller, where=EpisodeFilter(), limit=9)
    unmerge(caller=acme.caller, episode_id=one.id, now=timezone.now())
    assert compact(acme.caller).merged == 0
    assert holding(acme.caller) == sorted([FOOD, MORE])


@pytest.mark.parametrize(("one", "other"), [
    (OSLO, "Bob lives in Oslo."),
    ("Ana likes tea.", "Ana does not like tea."),
    ("Ana has 2 cats.", "Ana has 3 cats."),
])  # fmt: skip
def test_unrelated_and_contradicting_facts_stay(acme, one, other):
    keep(acme.caller, one, other)
    assert compact(acme.caller).remaining == 2


def test_only_the_user_and_the_namespace_that_are_asked_about_are_compacted(acme, globex):
    for user_id, namespace in (("alice", "n"), ("alice", "m"), ("bob", "n")):
        keep(acme.caller, OSLO, OSLO, user_id=user_id, namespace=namespace)
    keep(globex.caller, OSLO, OSLO)
    assert compact(acme.caller, user_id="alice", namespace="n").remaining == 1
    assert len(holding(acme.caller)) == 5
    bob = acme.with_key(user_id="bob").caller
    with pytest.raises(Forbidden):
        compact(bob, user_id="alice")
    assert compact(bob).duplicates == 1
    assert len(holding(acme.caller)) == 4
    assert len(holding(globex.caller)) == 2


def test_what_no_client_has_named_and_summaries_of_sessions_stay(acme):
    for _time in range(2):
        new = NewEpisode(text=OSLO, user_id="alice", memory_type="semantic")
        store_episode(caller=acme.caller, new=new, now=timezone.now())
    keep(acme.caller, "A summary.", "A summary.", extraction_strategy="summary")
    assert compact(acme.caller).duplicates == 0
    assert len(holding(acme.caller)) == 4


def test_in_pages_as_in_one(acme):
    keep(acme.caller, *(record(text, user_id=f"u{n}") for n in range(4) for text in (FOOD, MORE)))
    after, merged = None, 0
    while True:
        done = compact(acme.caller, limit=3, after=after)
        merged += done.merged
        if (after := done.next) is None:
            break
    assert merged == 8
    assert done.remaining == 4


def test_the_newest_are_compared_however_many_are_before_them(acme, monkeypatch):
    monkeypatch.setattr(compacting, "PAGE", 2)
    keep(acme.caller, "Ana likes tea.", "Bob plays chess.", "The server is in Oslo.", FOOD, "Eve runs.", MORE)
    assert compact(acme.caller, limit=2).merged == 2
    assert compact(acme.caller).next is None
    keep(acme.caller, *(record(f"Ana has {n} cats.", id=f"{n}{twin}") for n in range(5) for twin in "ab"))
    keep(acme.caller, "Ana likes tea, and coffee.")
    done = compact(acme.caller)
    assert (done.duplicates, done.merged, done.next) == (5, 2, None)


def test_one_that_runs_out_of_time_says_what_is_left_and_where_to_go_on(acme):
    keep(acme.caller, OSLO, OSLO, "Eve runs.", "Eve runs.")
    assert [compact(acme.caller, patience=0).duplicates for _time in range(3)] == [1, 1, 0]
    keep(acme.caller, FOOD, MORE, "Ana likes tea.", "Ana likes tea, and coffee.")
    done = compact(acme.caller, patience=0)
    assert (done.merged, done.remaining) == (2, 5)
    assert compact(acme.caller, after=done.next).merged == 2


def test_what_was_saved_without_the_model_is_merged_once_it_is_embedded(acme, model_away):
    save(acme.caller, FOOD, MORE)
    assert compact(acme.caller).merged == 0
    embeddings.reset_embedder()
    embed_pending()
    assert compact(acme.caller).merged == 2
    assert holding(acme.caller) == [MORE]


def test_at_once_with_writers_one_is_left(acme):
    keep(acme.caller, *(record(OSLO, session_id=f"s{n}") for n in range(10)))

    def work(number):
        try:
            return compact(acme.caller) if number % 2 else save(acme.caller, OSLO, session_id=f"t{number}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(12)))
    compact(acme.caller)
    assert holding(acme.caller) == [OSLO]


def test_every_night_unless_the_policy_says_no(acme, globex):
    keep(acme.caller, OSLO, OSLO)
    keep(globex.caller, FOOD, MORE)
    decide(globex, {"records": {"compaction": False}})
    retain()
    assert done_by_jobs(acme, "records.compact") == [{"duplicates": 1, "merged": 0}]
    assert done_by_jobs(globex, "records.compact") == []
    decide(globex, {"records": {"compaction": True, "compaction_distance": 0}})
    assert enqueue_compaction(now=timezone.now(), tenants=[globex.tenant.id]) == 1
    assert done_by_jobs(globex, "records.compact") == [{"duplicates": 0, "merged": 0}]
