from datetime import timedelta

import pytest
from django.utils import timezone

from episodic import embedding
from episodic.embedding import BATCH, embed_pending
from episodic.metrics import SET_ASIDE
from episodic.models import Episode, EpisodeEmbedding
from episodic.search import nearest_episodes
from episodic.types import EpisodeFilter
from providers.embeddings import reset_embedder
from providers.fake import FakeProvider
from tenants import embedding as tenants_embedding
from tenants.embedding import embed_query
from tenants.router import admin_role
from tenants.scope import scope
from tests.episodic.test_store_episode import store
from tests.working.conversation import at_once


@pytest.fixture(autouse=True)
def _nobody_waits():
    """What other tests left pending would take turns with the tenants of this one."""
    with admin_role():
        Episode.objects.filter(embed_pending=True).update(embed_pending=False)


def pending(caller, count, **named):
    """Episodes that wait for their vectors, as a time without the model leaves them."""
    named = {"user_id": "u1", "created_at": timezone.now()} | named
    rows = [Episode(tenant_id=caller.tenant_id, text=f"fact {n}", **named) for n in range(count)]
    with scope(caller.tenant_id):
        return Episode.objects.bulk_create(rows)


def waiting(caller):
    with scope(caller.tenant_id):
        return Episode.objects.filter(tenant_id=caller.tenant_id, embed_pending=True).count()


def embedded(caller):
    with scope(caller.tenant_id):
        found = EpisodeEmbedding.objects.filter(tenant_id=caller.tenant_id)
        return sorted(found.values_list("episode_id", flat=True))


def test_what_was_stored_without_the_model_is_found_after_the_sweep(acme, model_away):
    episode = store(acme.caller, "Kim likes trains.", user_id="u1")
    assert embed_pending() == 0
    assert waiting(acme.caller) == 1
    reset_embedder()
    assert embed_pending() == 1
    assert waiting(acme.caller) == 0
    hits = nearest_episodes(
        caller=acme.caller,
        vector=embed_query("railway", tenant_id=acme.tenant.id),
        where=EpisodeFilter(user_id="u1"),
        limit=3,
    )
    assert [one.episode.id for one in hits] == [episode.id]


def test_every_episode_gets_exactly_one_vector_over_several_batches(acme):
    rows = pending(acme.caller, 2 * BATCH + 3)
    assert embed_pending() == len(rows)
    assert embedded(acme.caller) == sorted(row.id for row in rows)
    assert embed_pending() == 0


def test_two_sweepers_at_once_leave_one_vector_each(acme):
    rows = pending(acme.caller, BATCH + 10)
    at_once(embed_pending, embed_pending, embed_pending)
    assert embedded(acme.caller) == sorted(row.id for row in rows)
    assert waiting(acme.caller) == 0


def test_a_tenant_with_many_waiting_does_not_keep_another_from_its_turn(acme, globex):
    pending(acme.caller, 3 * BATCH, created_at=timezone.now() - timedelta(days=1))
    pending(globex.caller, 5)
    embed_pending(limit=BATCH)
    assert (waiting(acme.caller), waiting(globex.caller)) == (2 * BATCH, 0)


def test_tenants_take_turns_by_the_batch(acme, globex, monkeypatch):
    """The first is not finished before the second is begun."""
    order = []
    for member in (acme, globex):
        pending(member.caller, 2 * BATCH)
    sweep = embedding._embed_batch
    monkeypatch.setattr(embedding, "_embed_batch", lambda one, size: order.append(one) or sweep(one, size))
    embed_pending()
    assert order[:4] == [acme.caller.tenant_id, globex.caller.tenant_id] * 2


def test_the_limit_holds_for_each_tenant(acme, globex):
    pending(acme.caller, 20)
    pending(globex.caller, 20)
    assert embed_pending(limit=7) == 14
    assert (waiting(acme.caller), waiting(globex.caller)) == (13, 13)


def test_an_episode_deleted_while_it_was_being_embedded_stays_deleted(acme, monkeypatch):
    rows = pending(acme.caller, 3)
    think = tenants_embedding._embed

    def delete_meanwhile(texts, tenant_id):
        with scope(acme.caller.tenant_id):
            Episode.objects.filter(id=rows[1].id).delete()
        return think(texts, tenant_id)

    monkeypatch.setattr(tenants_embedding, "_embed", delete_meanwhile)
    embed_pending()
    assert embedded(acme.caller) == sorted([rows[0].id, rows[2].id])


@pytest.fixture
def outside(settings):
    """A fake provider of which texts beyond ten words are rejected, however short they are cut."""
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", "text-embedding-3-small"
    settings.OPENAI_API_KEY, settings.PROVIDER_RETRIES = "sk-x", 0
    with FakeProvider(max_tokens=10) as provider:
        settings.OPENAI_BASE_URL = provider.base_url
        reset_embedder()
        yield provider
    reset_embedder()


TOO_LONG = "word " * 11


def say(caller, rows, text):
    with scope(caller.tenant_id):
        Episode.objects.filter(id__in=[row.id for row in rows]).update(text=text)


def test_a_text_that_is_always_rejected_does_not_hold_up_the_others(acme, outside, caplog):
    rows = pending(acme.caller, BATCH + 5)
    bad = [rows[0], rows[40]]
    say(acme.caller, bad, TOO_LONG)
    before = SET_ASIDE._value.get()
    assert embed_pending() == len(rows)
    assert embedded(acme.caller) == sorted({row.id for row in rows} - {row.id for row in bad})
    assert waiting(acme.caller) == 0
    assert SET_ASIDE._value.get() == before + 2
    assert all(str(row.id) in caplog.text for row in bad)
    assert "word word" not in caplog.text


def test_many_that_are_rejected_are_done_with_over_several_sweeps(acme, outside):
    rows = pending(acme.caller, 10)
    say(acme.caller, rows[:9], TOO_LONG)
    for left in (6, 2, 0):
        embed_pending()
        assert waiting(acme.caller) == left
    assert embedded(acme.caller) == [rows[9].id]


def test_a_server_that_rejects_everything_sets_nothing_aside(acme, outside):
    outside.control(max_tokens=0)
    pending(acme.caller, BATCH)
    assert embed_pending() == 0
    assert waiting(acme.caller) == BATCH
    assert outside.count("/v1/embeddings") < 12


def test_a_server_that_is_away_is_asked_once_and_nothing_is_set_aside(acme, outside):
    rows = pending(acme.caller, BATCH)
    say(acme.caller, rows[:1], TOO_LONG)
    outside.control(wrong=-1)
    assert embed_pending() == 0
    assert waiting(acme.caller) == BATCH
    assert outside.count("/v1/embeddings") == 1


def test_a_text_that_was_changed_meanwhile_is_not_set_aside(acme, outside, monkeypatch):
    rows = pending(acme.caller, 2)
    say(acme.caller, rows[:1], TOO_LONG)
    think = tenants_embedding._embed

    def change_meanwhile(texts, tenant_id):
        say(acme.caller, rows[:1], "short")
        return think(texts, tenant_id)

    monkeypatch.setattr(tenants_embedding, "_embed", change_meanwhile)
    embed_pending()
    assert waiting(acme.caller) == 1
    embed_pending()
    assert embedded(acme.caller) == sorted(row.id for row in rows)
