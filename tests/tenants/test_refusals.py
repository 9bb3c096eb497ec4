"""What a model did not take is known for as long as it is there: its id and a digest of what it says."""

import pytest
from django.utils import timezone

from episodic.editing import EpisodeChanges, edit_episode
from episodic.episodes import store_episode
from episodic.retraction import delete_episode
from episodic.types import NewEpisode
from tenants import filling, refusals
from tenants.changing import begin_change, drop_generation, switch_model
from tenants.filling import missing, sweep
from tenants.models import TenantEmbedding
from tenants.refusals import forget_refused
from tenants.scope import scope
from tests.privacy import people
from tests.tenants.two_models import LOCAL, OTHER, both, vectors, work

LONG = "word " * 300


@pytest.fixture(autouse=True)
def provider(settings):
    settings.API_KEY_CACHE_SECONDS = 0
    with both(settings) as running:
        running.control(max_tokens=100)
        yield running


def store(member, user_id="ann"):
    return store_episode(caller=member.caller, new=NewEpisode(text=LONG, user_id=user_id), now=timezone.now())


def named(member):
    return {"tenant_id": member.tenant.id, "actor": "test", "now": timezone.now()}


def begin(member):
    begin_change(to=OTHER, **named(member))
    work()


def refused(member):
    """The ids, by model and kind."""
    with scope(member.tenant.id):
        row = TenantEmbedding.objects.get(tenant_id=member.tenant.id)
        return {
            (model, kind): set(digests)
            for model, by_kind in row.refused.items()
            for kind, digests in by_kind.items()
        }


def look(member):
    filling._looks_again.pop(member.tenant.id, None)
    sweep()


def test_the_next_look_forgets_what_is_gone_or_says_something_else(acme):
    gone, edited, kept = [store(acme) for _ in range(3)]
    begin(acme)
    assert refused(acme) == {(OTHER, "episode"): {str(one.id) for one in (gone, edited, kept)}}
    delete_episode(caller=acme.caller, episode_id=gone.id, hard=True, now=timezone.now())
    edit_episode(
        caller=acme.caller, episode_id=edited.id, changes=EpisodeChanges(text="word"), now=timezone.now()
    )
    look(acme)
    assert refused(acme) == {(OTHER, "episode"): {str(kept.id)}}
    assert missing(acme.tenant.id, model=OTHER)["episode"] == 1, "what says something else"
    assert forget_refused(acme.tenant.id) == 0


def test_so_does_one_after_the_end_of_the_change(acme):
    episode = store(acme)
    begin(acme)
    switch_model(**named(acme))
    drop_generation(model=LOCAL, **named(acme))
    assert refused(acme) == {(OTHER, "episode"): {str(episode.id)}}
    delete_episode(caller=acme.caller, episode_id=episode.id, hard=True, now=timezone.now())
    look(acme)
    assert refused(acme) == {}


def test_what_is_gone_does_not_count_towards_the_most_that_are_known(acme, monkeypatch):
    monkeypatch.setattr(refusals, "MOST", 1)
    gone = store(acme)
    begin(acme)
    delete_episode(caller=acme.caller, episode_id=gone.id, hard=True, now=timezone.now())
    look(acme)
    kept = store(acme)
    look(acme)
    work()
    assert refused(acme) == {(OTHER, "episode"): {str(kept.id)}}


def test_those_of_an_erased_person_are_forgotten_with_their_memory(acme, globex):
    anns, bens, elsewhere = store(acme), store(acme, "ben"), store(globex)
    for member in (acme, globex):
        begin(member)
    assert {str(anns.id), str(bens.id)} == refused(acme)[(OTHER, "episode")]
    people.erase(acme, "ann")
    assert refused(acme) == {(OTHER, "episode"): {str(bens.id)}}
    assert refused(globex) == {(OTHER, "episode"): {str(elsewhere.id)}}
    assert vectors(globex) == {LOCAL: 1}
