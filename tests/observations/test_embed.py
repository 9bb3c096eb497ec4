"""The job that makes vectors: once for a tenant, whatever happens meanwhile."""

from uuid import uuid4

import pytest
from django.utils import timezone

from observations import embedding
from observations.embedding import BATCH, embed_batch
from observations.indexing import EMBED
from observations.models import ObservationEmbedding
from providers.embeddings import get_embedder, reset_embedder
from providers.fake import FakeProvider
from tenants import embedding as tenants_embedding
from tenants.jobs import runner
from tenants.jobs.kinds import Task, kind_of
from tenants.models import Job
from tenants.scope import scope
from tests.observations.notes import (
    delete,
    edit,
    embed,
    embed_jobs,
    note,
    row_of,
    rows_left,
    search,
    stored,
    titles,
)  # fmt: skip
from tests.privacy import people
from tests.working.conversation import at_once


def run_jobs():
    while runner.run_jobs(slow=True):
        pass


def make_due(caller):
    with scope(caller.tenant_id):
        Job.objects.filter(tenant_id=caller.tenant_id, kind=EMBED).update(run_at=timezone.now())


def vectors(caller):
    with scope(caller.tenant_id):
        found = ObservationEmbedding.objects.filter(tenant_id=caller.tenant_id)
        return {one.observation_id: one for one in found}


def while_embedding(monkeypatch, act):
    """Does something once, between reading the texts and storing their vectors."""
    think, done = tenants_embedding._embed, []

    def interrupted(texts, tenant_id):
        if not done:
            done.append(True)
            act()
        return think(texts, tenant_id)

    monkeypatch.setattr(tenants_embedding, "_embed", interrupted)


def test_what_is_saved_is_embedded_by_one_job_of_its_tenant(acme, globex):
    for n in range(5):
        note(acme.caller, f"Say {n}.")
    note(globex.caller, "Blue.")
    assert [len(embed_jobs(member.caller)) for member in (acme, globex)] == [1, 1]
    (job,) = embed_jobs(acme.caller)
    assert (job.payload, job.user_id) == ({}, ""), "it holds nothing of anybody's"
    run_jobs()
    assert embed_jobs(acme.caller) == embed_jobs(globex.caller) == []
    assert len(vectors(acme.caller)) == 5
    assert not any(row.embed_pending for row in stored(acme.caller))


def test_the_vector_stands_beside_the_observation_with_its_subject(caller):
    one = note(caller, "Blue.", user_id="ann").observation
    shared = note(caller, "Green.", scope="global", session_id="s2").observation
    embed(caller)
    found = vectors(caller)
    assert {(v.corpus, v.user_id, v.model, len(v.embedding)) for v in found.values()} == {
        ("orders", "ann", get_embedder().model, 384),
        ("", "", get_embedder().model, 384),
    }
    assert set(found) == {one.id, shared.id}


def test_very_many_take_several_batches(caller, monkeypatch):
    monkeypatch.setattr(embedding, "BATCH", 3)
    for n in range(8):
        note(caller, f"Say {n}.")
    run_jobs()
    assert len(vectors(caller)) == 8
    assert BATCH > 3


def test_what_is_saved_while_the_job_runs_is_embedded_too(caller, monkeypatch):
    note(caller, "Blue.")
    while_embedding(monkeypatch, lambda: note(caller, "Green."))
    run_jobs()
    assert len(vectors(caller)) == 2
    assert embed_jobs(caller) == []


def test_of_a_text_that_changed_meanwhile_only_the_new_vector_is_kept(caller, monkeypatch):
    one = note(caller, "Cats and dogs.", title="Pets").observation
    while_embedding(monkeypatch, lambda: edit(caller, one.id, content="Trains and trams.", title="Rails"))
    run_jobs()
    assert len(vectors(caller)) == 1
    assert titles(search(caller, "railway", mode="hybrid")) == ["Rails"]
    assert search(caller, "puppies", mode="hybrid") == []


def test_what_was_trashed_or_deleted_meanwhile_gets_none(caller, monkeypatch):
    soft, hard = (note(caller, text).observation.id for text in ("Blue.", "Green."))
    note(caller, "Grey.")

    def throw_away():
        delete(caller, soft)
        delete(caller, hard, hard=True)

    while_embedding(monkeypatch, throw_away)
    run_jobs()
    assert len(vectors(caller)) == 1
    assert rows_left(caller)["SearchEntry"] == 1


def test_with_the_model_away_it_is_tried_again(caller, model_away):
    one = note(caller, "The weather is fine.").observation
    run_jobs()
    (job,) = embed_jobs(caller)
    assert (job.state, job.attempts) == ("queued", 1)
    assert job.run_at > timezone.now()
    assert row_of(caller, one.id).embed_pending
    assert len(search(caller, "weather", mode="all")) == 1, "it is found by its words"
    reset_embedder()
    make_due(caller)
    run_jobs()
    assert (embed_jobs(caller), len(vectors(caller))) == ([], 1)


def test_two_workers_at_once_leave_one_vector_each(caller):
    for n in range(12):
        note(caller, f"Say {n}.")
    at_once(*(lambda: embed_batch(caller.tenant_id) for _ in range(3)))
    assert len(vectors(caller)) == 12
    assert embed_batch(caller.tenant_id) == 0


def test_a_person_erased_meanwhile_leaves_nothing(acme, monkeypatch):
    note(acme.caller, "Ann likes sesame.", user_id="ann")
    kept = note(acme.caller, "Bob likes poppy.", user_id="bob", session_id="s2").observation
    while_embedding(monkeypatch, lambda: people.erase(acme, "ann"))
    run_jobs()
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    assert set(vectors(acme.caller)) == {kept.id}


@pytest.fixture
def outside(settings):
    """A fake provider that rejects texts beyond ten words."""
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.OPENAI_API_KEY, settings.PROVIDER_RETRIES = "sk-x", 0
    with FakeProvider(max_tokens=10) as provider:
        settings.OPENAI_BASE_URL = provider.base_url
        reset_embedder()
        yield provider
    reset_embedder()


def test_a_text_that_the_model_does_not_take_is_set_aside_and_harms_no_other(caller, outside, caplog):
    ids = [note(caller, f"Say {n}.").observation.id for n in range(9)]
    bad = note(caller, "sesame " * 40).observation.id
    run_jobs()
    assert set(vectors(caller)) == set(ids)
    assert not row_of(caller, bad).embed_pending
    assert f"embedding_rejected observation={bad}" in caplog.text
    assert "sesame" not in caplog.text
    assert len(search(caller, "sesame", mode="all")) == 1
    edit(caller, bad, content="short")
    run_jobs()
    assert bad in vectors(caller)


def test_a_provider_that_is_away_sets_nothing_aside(caller, outside):
    note(caller, "sesame " * 40)
    note(caller, "Blue.")
    outside.control(wrong=-1)
    run_jobs()
    assert [row.embed_pending for row in stored(caller)] == [True, True]
    assert embed_jobs(caller)[0].state == "queued"


def test_vectors_of_two_models_stand_side_by_side(caller, settings):
    note(caller, "Cats and dogs.", title="Pets")
    embed(caller)
    with FakeProvider() as provider:
        settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
        settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "sk-x", provider.base_url
        reset_embedder()
        try:
            note(caller, "Trains.")
            embed(caller)
            assert len(search(caller, "cats", mode="hybrid")) == 1, "that of the other model is not compared"
        finally:
            reset_embedder()
    assert {len(one.embedding) for one in vectors(caller).values()} == {384, 1536}


def test_one_job_embeds_one_batch_so_that_others_come_in_between(acme, monkeypatch):
    monkeypatch.setattr(embedding, "BATCH", 3)
    for n in range(9):
        note(acme.caller, f"Say {n}.")
    (first,) = embed_jobs(acme.caller)
    kind = kind_of(EMBED)
    task = Task(first.id, acme.caller.tenant_id, EMBED, {}, "", timezone.now(), 1, 12, uuid4())
    prepared = kind.prepare(task)
    with scope(acme.caller.tenant_id):
        Job.objects.filter(id=first.id).delete()
        kind.apply(task, prepared)
    assert len(vectors(acme.caller)) == 3
    assert [one.state for one in embed_jobs(acme.caller)] == ["queued"]
    run_jobs()
    assert (embed_jobs(acme.caller), len(vectors(acme.caller))) == ([], 9)
