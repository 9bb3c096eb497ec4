import pytest
from django.utils import timezone

from episodic.episodes import list_episodes, store_episode
from episodic.models import Episode, EpisodeEmbedding
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter, NewEpisode
from tenants.errors import Forbidden, Unavailable
from tenants.scope import scope


def store(caller, text="Kim likes trains.", **named):
    return store_episode(caller=caller, new=NewEpisode(text=text, **named), now=timezone.now())


def vectors_of(caller):
    with scope(caller.tenant_id):
        return list(EpisodeEmbedding.objects.filter(tenant_id=caller.tenant_id))


def test_the_vector_stands_beside_the_episode_with_its_subject(acme):
    episode = store(acme.caller, user_id="u1", agent_id="ada")
    (row,) = vectors_of(acme.caller)
    assert (row.episode_id, row.user_id, row.agent_id) == (episode.id, "u1", "ada")
    assert row.model == "all-MiniLM-L6-v2"
    assert len(row.embedding) == 384
    assert not episode.embed_pending


def test_without_the_model_the_episode_is_stored_to_be_embedded_later(acme, model_away):
    episode = store(acme.caller, user_id="u1")
    assert episode.embed_pending
    assert vectors_of(acme.caller) == []
    (listed,) = list_episodes(caller=acme.caller, where=EpisodeFilter(user_id="u1"), limit=9)
    assert (listed.id, listed.embed_pending) == (episode.id, True)


def test_without_the_model_a_search_says_that_it_is_away(acme, model_away):
    with pytest.raises(Unavailable):
        embed_query("trains", tenant_id=acme.tenant.id)


def test_a_bound_key_stores_for_its_own_subject_only(acme):
    bound = acme.with_key(user_id="u1", agent_id="ada", project="p").caller
    episode = store(bound)
    assert (episode.user_id, episode.agent_id, episode.project) == ("u1", "ada", "p")
    for other in ({"user_id": "u2"}, {"agent_id": "bob"}, {"project": "q"}):
        with pytest.raises(Forbidden):
            store(bound, **other)


def test_globex_cannot_read_acme_episode(acme, globex):
    store(acme.caller, user_id="u1")
    vector = embed_query("trains", tenant_id=acme.tenant.id)
    where = EpisodeFilter(user_id="u1")
    assert list_episodes(caller=globex.caller, where=where, limit=9) == []
    assert nearest_episodes(caller=globex.caller, vector=vector, where=where, limit=9) == []
    with scope(globex.caller.tenant_id):
        assert not Episode.objects.exists()


def test_an_episode_goes_with_its_vector(acme):
    episode = store(acme.caller)
    with scope(acme.caller.tenant_id):
        Episode.objects.filter(id=episode.id).delete()
    assert vectors_of(acme.caller) == []
