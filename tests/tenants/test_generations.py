"""Two generations of vectors beside each other: what is filled, what is searched by, what is kept."""

import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from episodic.editing import EpisodeChanges, edit_episode
from episodic.embedding import embed_pending
from episodic.entities import NewEntity, put_entity
from episodic.entity_reading import EntityFilter, search_entities
from episodic.episodes import store_episode
from episodic.models import Episode
from episodic.search import nearest_episodes
from episodic.types import EpisodeFilter, NewEpisode
from memoryproject.gauges import _missing
from providers.embeddings import reset_embedder
from recall.recall import recall
from recall.types import RecallQuery
from tenants import embedding, filling, generations
from tenants.changing import begin_change, drop_generation, rollback_model, switch_model
from tenants.embedding import embed_query
from tenants.errors import Conflict, Unavailable
from tenants.filling import Place, fill_next, fill_up, missing, sweep
from tenants.generations import Generations, model_of, read_generations, reading_by
from tenants.scope import scope
from tenants.vectors import kinds
from tests.knowledge.shelf import ingest
from tests.knowledge.shelf import search as search_shelf
from tests.observations.notes import embed, note, search, titles
from tests.tenants.two_models import LOCAL, OTHER, both, fill_jobs, found, vectors, work

GULLS = "Gulls nest on the lighthouse."


@pytest.fixture(autouse=True)
def provider(settings):
    with both(settings) as running:
        yield running


def named(member):
    return {"tenant_id": member.tenant.id, "actor": "test", "now": timezone.now()}


def begin(member):
    return begin_change(to=OTHER, **named(member))


def switch(member):
    return switch_model(**named(member))


def store(member, text=GULLS, **more):
    new = NewEpisode(text=text, user_id="ann", **more)
    return store_episode(caller=member.caller, new=new, now=timezone.now())


def words(member, text):
    query = RecallQuery(text, EpisodeFilter(user_id="ann"), 5, "hybrid")
    return [hit.episode.text for hit in recall(caller=member.caller, query=query).hits]


def test_the_model_of_a_tenant_is_known_without_asking(acme):
    model_of(acme.tenant.id)
    with scope(acme.tenant.id), CaptureQueriesContext(connection) as asked:
        assert model_of(acme.tenant.id) == LOCAL
    assert len(asked) == 0


def test_a_process_follows_a_change_when_what_it_knows_is_five_seconds_old(acme, monkeypatch):
    begin(acme)
    model_of(acme.tenant.id)
    known = dict(generations._known)
    switch(acme)
    generations._known.update(known)  # as in a process that did not make the change
    assert model_of(acme.tenant.id) == LOCAL
    begun = time.monotonic()
    monkeypatch.setattr(generations.time, "monotonic", lambda: begun + 5)
    assert model_of(acme.tenant.id) == OTHER


def test_what_postgresql_cannot_tell_is_not_guessed(acme, monkeypatch):
    begin(acme)
    switch(acme)
    assert model_of(acme.tenant.id) == OTHER
    known = generations._known[acme.tenant.id]
    read = generations._read

    def away(tenant_id):
        raise OperationalError("away")

    monkeypatch.setattr(generations, "_read", away)
    assert model_of(acme.tenant.id) == OTHER  # known for some seconds more
    generations._known[acme.tenant.id] = generations._Known(known.generations, 0.0)
    with pytest.raises(OperationalError):
        model_of(acme.tenant.id)
    monkeypatch.setattr(generations, "_read", read)
    assert model_of(acme.tenant.id) == OTHER


def test_a_block_can_read_by_another_model_than_the_tenants(acme):
    with reading_by(OTHER):
        assert (model_of(acme.tenant.id), len(embed_query("gulls", tenant_id=acme.tenant.id))) == (
            OTHER,
            1536,
        )
    assert len(embed_query("gulls", tenant_id=acme.tenant.id)) == 384


def test_a_vector_is_compared_with_those_of_the_model_that_made_it(acme):
    """Between the embedding of a query and the search the tenant goes over to the other model."""
    store(acme)
    begin(acme)
    vector = embed_query("gulls", tenant_id=acme.tenant.id)
    switch(acme)
    where = EpisodeFilter(user_id="ann")
    near = nearest_episodes(caller=acme.caller, vector=vector, where=where, limit=1)
    assert [one.episode.text for one in near] == [GULLS]


def test_a_vector_is_stored_beside_the_model_that_made_it(acme, monkeypatch):
    begin(acme)
    ask = embedding._asked

    def switched_meanwhile(*given, **more):
        made = ask(*given, **more)
        if model_of(acme.tenant.id) == LOCAL:
            switch(acme)
        return made

    monkeypatch.setattr(embedding, "_asked", switched_meanwhile)
    store(acme)
    assert vectors(acme) == {LOCAL: 1}
    assert words(acme, "gulls") == [GULLS], "by its words, until the workers have come to it"
    work()
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}
    assert found(acme.caller, "gulls") == [GULLS]


def test_what_is_written_during_a_change_is_found_at_once_and_read_by_both(acme):
    begin(acme)
    work()
    store(acme)
    assert (vectors(acme), found(acme.caller, "gulls")) == ({LOCAL: 1}, [GULLS])
    with scope(acme.tenant.id):
        assert not Episode.objects.get(tenant_id=acme.tenant.id).embed_pending
    assert sweep() >= 1
    work()
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}
    switch(acme)
    store(acme, "Herring is food.")
    filling._looks_again.clear()
    sweep()
    work()
    assert vectors(acme) == {LOCAL: 2, OTHER: 2}
    rollback_model(**named(acme))
    assert "Herring is food." in found(acme.caller, "food")


def test_an_edited_memory_is_read_again_by_both(acme):
    episode = store(acme)
    begin(acme)
    work()
    edit_episode(
        caller=acme.caller, episode_id=episode.id, changes=EpisodeChanges(text="Herring."),
        now=timezone.now(),
    )  # fmt: skip
    assert vectors(acme) == {LOCAL: 1}
    filling._looks_again.clear()
    sweep()
    work()
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}


def test_a_memory_that_waits_for_its_first_vector_gets_both(acme, provider, monkeypatch):
    begin(acme)
    monkeypatch.setattr("episodic.episodes.try_embed", lambda texts, tenant_id: None)
    store(acme)
    assert vectors(acme) == {}
    embed_pending()
    work()
    assert sum(missing(acme.tenant.id, model=LOCAL).values()) == 0
    list(fill_up(acme.tenant.id))
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}


def test_a_fill_that_is_killed_between_batches_goes_on_where_it_was(acme, provider, monkeypatch):
    monkeypatch.setattr(filling, "BATCH", 2)
    for number in range(7):
        store(acme, f"memory number {number}")
    begin(acme)
    batches = fill_up(acme.tenant.id)
    assert [next(batches), next(batches)] == [2, 2]
    batches.close()
    looked = fill_next(acme.tenant.id, Place())  # embedded, and killed before it could be stored
    assert (len(looked.filled.batch), missing(acme.tenant.id, model=OTHER)["episode"]) == (2, 3)
    work()
    assert (vectors(acme), fill_jobs(acme)) == ({LOCAL: 7, OTHER: 7}, 0)
    texts = [text for one in provider.requests for text in one["body"]["input"]]
    assert sorted(texts).count("memory number 0") == 1, "nothing that was stored is paid for again"


def test_windows_without_anything_to_do_are_passed_by(acme, monkeypatch):
    for number in range(9):
        store(acme, f"memory number {number}")
    begin(acme)
    monkeypatch.setattr("tenants.vectors.WINDOW", 2)
    monkeypatch.setattr(filling, "MOST_WINDOWS", 3)
    with scope(acme.tenant.id):
        kinds()["episode"].vectors._default_manager.filter(tenant_id=acme.tenant.id, model=OTHER).delete()
    work()
    assert vectors(acme) == {LOCAL: 9, OTHER: 9}
    work()
    assert list(fill_up(acme.tenant.id)) == []


def test_tenants_take_turns(acme, globex, monkeypatch):
    monkeypatch.setattr(filling, "BATCH", 2)
    order = []
    look = filling.fill_next
    monkeypatch.setattr(filling, "fill_next", lambda one, place: order.append(one) or look(one, place))
    for member in (acme, globex):
        for number in range(6):
            store(member, f"memory number {number}")
        begin(member)
    work()
    mine = [one for one in order if one in (acme.tenant.id, globex.tenant.id)]
    assert len(set(mine[:2])) == len(set(mine[2:4])) == 2


def test_one_pass_is_under_way_at_a_time(acme, monkeypatch):
    begin(acme)
    store(acme)
    seen, look = [], filling.fill_next

    def asked_again(tenant_id, place):
        filling._looks_again.clear()
        sweep()
        seen.append(fill_jobs(acme))
        return look(tenant_id, place)

    monkeypatch.setattr(filling, "fill_next", asked_again)
    work()
    assert set(seen) == {1}, "the one that runs"


def test_the_workers_wait_while_the_other_model_is_away(acme, provider):
    store(acme)
    provider.control(wrong=-1)
    begin(acme)
    work()
    assert (vectors(acme), fill_jobs(acme)) == ({LOCAL: 1}, 1)
    assert found(acme.caller, "gulls") == [GULLS]


def test_a_text_that_the_other_model_does_not_take_holds_up_nothing(acme, provider):
    long = store(acme, "word " * 300)
    store(acme)
    provider.control(max_tokens=100)
    begin(acme)
    work()
    assert vectors(acme) == {LOCAL: 2, OTHER: 1}
    assert missing(acme.tenant.id, model=OTHER)["episode"] == 0
    asked = provider.count("/v1/embeddings")
    filling._looks_again.clear()
    sweep()
    list(fill_up(acme.tenant.id))
    assert provider.count("/v1/embeddings") == asked, "it is not asked for again and again"
    edit_episode(
        caller=acme.caller, episode_id=long.id, changes=EpisodeChanges(text="word"), now=timezone.now()
    )
    assert missing(acme.tenant.id, model=OTHER)["episode"] == 1, "it says something else now"
    assert switch(acme).model == OTHER
    assert vectors(acme) == {LOCAL: 2, OTHER: 2}


def test_what_a_model_refused_is_tried_again_when_its_change_is_begun_again(acme, provider):
    store(acme, "word " * 300)
    provider.control(max_tokens=100)
    begin(acme)
    work()
    provider.control(max_tokens=8192)
    begin(acme)
    work()
    assert vectors(acme) == {LOCAL: 1, OTHER: 1}


def test_a_change_that_was_ended_meanwhile_gets_no_more_vectors(acme, settings):
    settings.API_KEY_CACHE_SECONDS = 0
    store(acme)
    begin(acme)
    looked = fill_next(acme.tenant.id, Place())
    drop_generation(model=OTHER, **named(acme))
    with scope(acme.tenant.id):
        filling._store(acme.tenant.id, looked.filled)
    assert vectors(acme) == {LOCAL: 1}


def test_only_one_of_two_switches_wins(acme):
    begin(acme)
    before = read_generations(acme.tenant.id)
    switch(acme)
    from tenants.changing import _swap

    with pytest.raises(Conflict, match="Somebody else"):
        _swap(acme.tenant.id, before, "test", timezone.now())
    assert read_generations(acme.tenant.id) == Generations(OTHER, LOCAL, is_switched=True)


def test_every_search_goes_by_the_new_model_after_the_switch(acme):
    put_entity(
        caller=acme.caller, new=NewEntity(user_id="ann", key="pet", value="a gull"), now=timezone.now()
    )
    note(acme.caller, "The keeper feeds the gulls.", title="Gulls")
    ingest(acme.caller, "Gulls eat herring.")
    embed(acme.caller)
    work()
    begin(acme)
    work()
    switch(acme)
    with scope(acme.tenant.id):  # what the former model has made is not looked at
        for kind in kinds().values():
            kind.vectors._default_manager.filter(tenant_id=acme.tenant.id, model=LOCAL).delete()
    where = EntityFilter(user_id="ann")
    slots = search_entities(caller=acme.caller, where=where, query="gull", limit=1)
    assert [one.key for one, _cosine in slots] == ["pet"]
    assert titles(search(acme.caller, "gulls", mode="hybrid")) == ["Gulls"]
    assert search_shelf(acme.caller, "gulls") == ["Gulls eat herring."]


def test_a_changed_fact_closes_the_old_one_whichever_model_read_it(acme):
    def say(text):
        return store(acme, text, memory_type="semantic")

    first = say("Ana is the project lead.")
    begin(acme)
    work()
    switch(acme)
    second = say("Bob is the project lead.")
    with scope(acme.tenant.id):
        assert Episode.objects.get(id=first.id).superseded_by == second.id


def test_a_model_that_is_no_longer_set_up_leaves_the_words(acme, settings):
    store(acme)
    begin(acme)
    switch(acme)
    settings.EMBEDDING_NEXT_PROVIDER = ""
    reset_embedder()
    assert words(acme, "gulls") == [GULLS]
    with pytest.raises(Unavailable):
        found(acme.caller, "gulls")
    assert store(acme, "Herring.").embed_pending


def test_the_metrics_tell_what_each_model_lacks(acme):
    store(acme)
    begin(acme)
    filling._looks_again.clear()
    sweep()
    lacked = {one.labels["model"]: one.value for one in _missing().samples}
    assert lacked[OTHER] >= 1
    assert LOCAL in lacked
    work()
    filling._looks_again.clear()
    sweep()
    with scope(acme.tenant.id):
        assert generations.locked_row(acme.tenant.id).missing == {LOCAL: 0, OTHER: 0}


def test_a_look_that_took_long_is_not_repeated_at_once(acme, monkeypatch):
    begin(acme)
    filling._looks_again[acme.tenant.id] = time.monotonic() + timedelta(hours=1).total_seconds()
    store(acme)
    looked = []
    monkeypatch.setattr(filling, "missing", lambda one, model: looked.append(one) or {})
    sweep()
    assert acme.tenant.id not in looked
