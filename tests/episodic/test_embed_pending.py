from datetime import timedelta

import pytest
from django.utils import timezone

from episodic import embedding
from episodic.embedding import BATCH, embed_pending, embed_query
from episodic.models import Episode, EpisodeEmbedding
from episodic.search import nearest_episodes
from episodic.types import EpisodeFilter
from providers.embeddings import reset_embedder
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
    think = embedding.try_embed

    def delete_meanwhile(texts, **named):
        with scope(acme.caller.tenant_id):
            Episode.objects.filter(id=rows[1].id).delete()
        return think(texts, **named)

    monkeypatch.setattr(embedding, "try_embed", delete_meanwhile)
    embed_pending()
    assert embedded(acme.caller) == sorted([rows[0].id, rows[2].id])
