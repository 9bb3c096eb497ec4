"""Saving: by the client's ids, word for word the same, and many at once."""

import hashlib
import json
from datetime import timedelta

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from episodic.access import access_of
from episodic.editing import list_revisions
from episodic.embedding import embed_pending
from episodic.keyword import Subject
from episodic.models import Episode, EpisodeEmbedding
from episodic.records import EMBEDDED, record_hash, save_records
from episodic.retraction import retract_episode
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter
from lexical.analysis import analyse
from lexical.matching import match_any
from providers import embeddings
from tenants.errors import Conflict, Forbidden, Invalid
from tenants.scope import scope
from tests.records.saving import holding, record, save, stored
from tests.records.stored import day

OSLO = "Ana lives in Oslo."


def found_by(caller, text):
    """By meaning and by words."""
    where = EpisodeFilter(user_id="alice")
    near = nearest_episodes(
        caller=caller, vector=embed_query(text, tenant_id=caller.tenant_id), where=where, limit=1
    )
    with scope(caller.tenant_id):
        words = match_any(Subject.of(caller.tenant_id, where), analyse(text), 1)
    return [one.episode.id for one in near], list(words)


def test_a_record_is_stored_as_the_client_says_it_is(acme):
    now = timezone.now()
    given = record(
        OSLO, id="r1", session_id="s", namespace="n", created_at=day(1), event_date=day(2), topics=("home",),
        entities=("Ana",), memory_type="episodic", pinned=True, access_count=3, last_accessed=day(3),
        extracted_from=("m1", "m2"), extraction_strategy="custom", extraction_config={"prompt": "p"},
        extracted="f", metadata={"k": 1},
    )  # fmt: skip
    (saved,) = save_records(caller=acme.caller, records=[given], deduplicate=True, now=now).records
    one = stored(acme.caller, saved.episode)
    assert (saved.id, saved.outcome) == ("r1", "created")
    assert (one.external_id, one.text, one.session, one.user_id, one.namespace) == (
        "r1",
        OSLO,
        "s",
        "alice",
        "n",
    )
    assert (one.created_at, one.persisted_at, one.event_date, one.pinned_at) == (day(1), now, day(2), now)
    assert (one.topics, one.entities, one.metadata, one.memory_type) == (
        ["home"],
        ["Ana"],
        {"k": 1},
        "episodic",
    )
    assert (one.origin, one.embed_pending, one.valid_to) == ("saved", False, None)
    assert one.extraction == {
        "strategy": "custom", "config": {"prompt": "p"}, "from": ["m1", "m2"], "done": "f"
    }  # fmt: skip
    used = access_of(caller=acme.caller, ids=[one.id])[one.id]
    assert (used.last_accessed_at, used.access_count) == (day(3), 3)
    assert found_by(acme.caller, OSLO) == ([one.id], [one.id])


def test_without_an_id_the_server_names_it_and_of_one_id_the_last_is_saved(acme):
    (unnamed,) = save(acme.caller, OSLO)
    assert len(unnamed.id) == 26
    twice = save(acme.caller, record("Ana has a cat.", id="r"), record("Ana has a dog.", id="r"))
    assert [(one.id, one.outcome, one.episode.text) for one in twice] == [("r", "created", "Ana has a dog.")]
    assert holding(acme.caller) == ["Ana has a dog.", OSLO]


def test_an_id_that_is_there_is_replaced_in_place_with_its_history(acme):
    (first,) = save(acme.caller, record(OSLO, id="r", metadata={"a": 1}, pinned=True))
    (again,) = save(acme.caller, record("Ana lives in Bergen.", id="r", topics=("home",)))
    assert (again.outcome, again.episode.id) == ("replaced", first.episode.id)
    one = stored(acme.caller, again.episode)
    assert (one.text, one.topics, one.metadata) == ("Ana lives in Bergen.", ["home"], {})
    assert one.persisted_at == first.episode.persisted_at
    assert one.created_at == first.episode.created_at
    assert one.pinned_at is not None
    assert one.version == 2
    (revision,) = list_revisions(caller=acme.caller, episode_id=one.id, limit=9)
    assert (revision.text, revision.metadata) == (OSLO, {"a": 1})
    assert found_by(acme.caller, "Bergen") == ([one.id], [one.id])


def test_the_same_again_leaves_no_trace(acme):
    (first,) = save(acme.caller, record(OSLO, id="r"))
    (again,) = save(acme.caller, record(OSLO, id="r"))
    assert (again.outcome, stored(acme.caller, first.episode).version) == ("replaced", 1)
    assert list_revisions(caller=acme.caller, episode_id=first.episode.id, limit=9) == []


@pytest.mark.parametrize("text", [OSLO, "Ana lives in Bergen."])
def test_one_that_was_taken_back_holds_again_when_its_id_comes_again(acme, text):
    (first,) = save(acme.caller, record(OSLO, id="r"))
    retract_episode(caller=acme.caller, episode_id=first.episode.id, now=timezone.now())
    assert holding(acme.caller) == []
    (again,) = save(acme.caller, record(text, id="r"))
    assert (again.outcome, again.episode.id) == ("replaced", first.episode.id)
    assert holding(acme.caller) == [text]
    assert found_by(acme.caller, text) == ([first.episode.id], [first.episode.id])


def test_an_id_is_its_client_s_within_a_user_and_a_namespace(acme, globex):
    save(acme.caller, record(OSLO, id="r"))
    for other in ({"user_id": "bob"}, {"namespace": "n"}):
        (saved,) = save(acme.caller, record("Elsewhere.", id="r", **other))
        assert saved.outcome == "created"
    assert save(globex.caller, record("Elsewhere.", id="r"))[0].outcome == "created"
    assert holding(acme.caller, user_id="alice", namespace="") == [OSLO]


def test_word_for_word_the_same_is_dropped_and_the_one_that_is_there_counts_as_used(acme):
    (first,) = save(acme.caller, OSLO, session_id="s")
    (again,) = save(acme.caller, OSLO, session_id="s", id="other")
    assert (again.outcome, again.episode.id, again.id) == ("dropped", first.episode.id, "other")
    used = access_of(caller=acme.caller, ids=[first.episode.id])[first.episode.id]
    assert used.last_accessed_at is not None
    assert holding(acme.caller) == [OSLO]


def test_what_is_dropped_leaves_its_pin_and_what_it_has_beside_its_text(acme):
    (first,) = save(acme.caller, record(OSLO, id="a", topics=("home",), metadata={"by": "a"}))
    later = record(OSLO, id="b", topics=("city", "home"), entities=("Ana",), metadata={"by": "b", "at": 1},
                   event_date=day(2), pinned=True)  # fmt: skip
    (again,) = save(acme.caller, later)
    one = stored(acme.caller, first.episode)
    assert (again.outcome, again.episode.id, one.pinned_at is not None) == ("dropped", one.id, True)
    assert (one.topics, one.entities, one.event_date) == (["home", "city"], ["Ana"], day(2))
    assert (one.metadata, one.version) == ({"by": "a", "at": 1}, 2)
    (revision,) = list_revisions(caller=acme.caller, episode_id=one.id, limit=9)
    assert (revision.topics, revision.metadata) == (["home"], {"by": "a"})
    save(acme.caller, later)  # brings nothing new
    assert stored(acme.caller, one).version == 2


def test_of_one_call_likewise(acme):
    pinned = [record(OSLO, id=f"r{n}", topics=(f"t{n}",), pinned=n == 2) for n in range(4)]
    saved = save(acme.caller, *pinned)
    assert [one.outcome for one in saved] == ["created", "dropped", "dropped", "dropped"]
    one = stored(acme.caller, saved[0].episode)
    assert (one.topics, one.pinned_at is not None) == (["t0", "t1", "t2", "t3"], True)
    again = save(acme.caller, *(record(OSLO, id=f"s{n}", topics=(f"u{n}",)) for n in range(3)))
    assert {row.episode.id for row in again} == {one.id}
    assert stored(acme.caller, one).topics == ["t0", "t1", "t2", "t3", "u0", "u1", "u2"]
    assert len(list_revisions(caller=acme.caller, episode_id=one.id, limit=9)) == 1


def test_what_the_call_itself_has_changed_says_it_no_more(acme):
    save(acme.caller, record(OSLO, id="a"))
    saved = save(acme.caller, record("Ana has a dog.", id="a"), record(OSLO, id="b"))
    assert [one.outcome for one in saved] == ["replaced", "created"]
    assert holding(acme.caller) == ["Ana has a dog.", OSLO]


def test_without_deduplication_both_stay_but_an_id_is_still_replaced(acme):
    save(acme.caller, OSLO, OSLO, deduplicate=False)
    assert holding(acme.caller) == [OSLO, OSLO]
    save(acme.caller, record(OSLO, id="r"), deduplicate=False)
    assert save(acme.caller, record(OSLO, id="r"), deduplicate=False)[0].outcome == "replaced"


def test_a_summary_of_a_session_is_dropped_for_nothing(acme):
    outcomes = [
        save(acme.caller, record(OSLO, id=one, extraction_strategy="summary"))[0].outcome for one in "ab"
    ]
    assert outcomes == ["created", "created"]


def test_the_hash_is_of_the_text_and_of_whose_it_is(acme):
    texts = save(acme.caller, record(OSLO, id="a", session_id="s", namespace="n"), deduplicate=False)
    named = {"text": OSLO, "user_id": "alice", "session_id": "s", "namespace": "n", "memory_type": "semantic"}
    one = texts[0].episode
    assert record_hash(one) == hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
    nobody = Episode(text=OSLO, memory_type="semantic")
    assert record_hash(nobody) != record_hash(one)


def test_statements_that_contradict_each_other_both_stay(acme):
    save(acme.caller, "The deploy window is Tuesday.")
    save(acme.caller, "The deploy window is Thursday.")
    assert len(holding(acme.caller)) == 2


def test_a_bound_key_saves_for_its_user_and_reaches_no_other_s(acme):
    alice = acme.with_key(user_id="alice").caller
    (saved,) = save(alice, OSLO, user_id=None)
    assert saved.episode.user_id == "alice"
    with pytest.raises(Forbidden):
        save(alice, OSLO, user_id="bob")


def test_an_agent_s_key_neither_replaces_nor_is_told_what_another_agent_remembers(acme):
    ada, bob = (acme.with_key(agent_id=one).caller for one in ("ada", "bob"))
    save(ada, record(OSLO, id="r"))
    assert save(bob, record(OSLO, id="b"))[0].outcome == "created"
    with pytest.raises(Conflict):
        save(bob, record("Ana lives in Bergen.", id="r"))
    assert holding(ada) == [OSLO]


@pytest.mark.parametrize("wrong", [{"id": ""}, {"id": "x" * 256}, {"id": "a\x00"}, {"memory_type": "other"}])
def test_what_is_no_record_is_refused_and_nothing_of_the_call_is_saved(acme, wrong):
    with pytest.raises(Invalid):
        save(acme.caller, record(OSLO), record(OSLO, **wrong))
    assert holding(acme.caller) == []
    assert save(acme.caller, record(OSLO, id="x" * 255))[0].outcome == "created"


def test_without_the_model_a_record_is_saved_and_embedded_later(acme, model_away):
    (saved,) = save(acme.caller, OSLO)
    assert stored(acme.caller, saved.episode).embed_pending
    embeddings.reset_embedder()
    embed_pending()
    assert found_by(acme.caller, OSLO)[0] == [saved.episode.id]


def test_a_thousand_at_once(acme):
    records = [record(f"Ana owns book {number} of the library.", id=f"r{number}") for number in range(1_000)]
    saved = save_records(caller=acme.caller, records=records, deduplicate=True, now=timezone.now())
    assert {one.outcome for one in saved.records} == {"created"}
    with scope(acme.tenant.id):
        assert EpisodeEmbedding.objects.filter(tenant_id=acme.tenant.id).count() == 1_000
    again = save_records(caller=acme.caller, records=records, deduplicate=True, now=timezone.now())
    assert {one.outcome for one in again.records} == {"replaced"}


def test_many_that_are_not_compared_do_not_wait_for_the_model(acme):
    """They are found by their words at once, and by meaning after the sweeper; no failure is counted."""
    failures = REGISTRY.get_sample_value("episodic_write_failures_total", {"reason": "embedding"})
    few = save(acme.caller, *(f"Ana has {n} cats." for n in range(EMBEDDED)), deduplicate=False)
    many = save(acme.caller, *(f"Ana has {n} dogs." for n in range(EMBEDDED + 1)), deduplicate=False)
    assert {stored(acme.caller, one.episode).embed_pending for one in (few[0], few[-1])} == {False}
    assert {stored(acme.caller, one.episode).embed_pending for one in (many[0], many[-1])} == {True}
    assert REGISTRY.get_sample_value("episodic_write_failures_total", {"reason": "embedding"}) == failures
    last = many[-1].episode
    where = EpisodeFilter(user_id="alice")
    with scope(acme.tenant.id):
        subject = Subject.of(acme.tenant.id, where)
        assert list(match_any(subject, analyse(f"{EMBEDDED} dogs"), 1)) == [last.id]
    embed_pending()
    assert found_by(acme.caller, last.text)[0] == [last.id]


def test_a_clock_a_little_ahead_is_taken_for_ours_and_one_further_ahead_is_refused(acme, settings):
    now = timezone.now()

    def saved(ahead):
        given = record(OSLO, created_at=now + ahead, last_accessed=now + ahead, access_count=1)
        return (
            save_records(caller=acme.caller, records=[given], deduplicate=False, now=now).records[0].episode
        )

    one = saved(timedelta(minutes=4))
    assert one.created_at == now  # else it would outlive the erasure of whose it is
    assert access_of(caller=acme.caller, ids=[one.id])[one.id].last_accessed_at == now
    with pytest.raises(Invalid) as refused:
        saved(timedelta(minutes=6))
    assert refused.value.field == "created_at"
    settings.MAX_FUTURE_TIMESTAMP_SECONDS = 3_600
    assert saved(timedelta(minutes=30)).created_at == now


def test_nothing_is_nothing(acme):
    assert save(acme.caller) == []
