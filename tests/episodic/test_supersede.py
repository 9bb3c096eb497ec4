from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from episodic.embedding import embed_pending
from episodic.episodes import list_episodes, store_episode
from episodic.models import Episode, EpisodeEmbedding
from episodic.search import embed_query, nearest_episodes
from episodic.types import EpisodeFilter, NewEpisode
from providers import embeddings
from tenants.errors import Invalid
from tenants.scope import scope

TUESDAY, THURSDAY = "The deploy window is Tuesday.", "The deploy window is Thursday."


def state(caller, text, *, memory_type="semantic", now=None, **named):
    named = {"user_id": "u1"} | named
    new = NewEpisode(text=text, memory_type=memory_type, **named)
    return store_episode(caller=caller, new=new, now=now or timezone.now())


def holding(caller, **where):
    listed = list_episodes(caller=caller, where=EpisodeFilter(**where), limit=50)
    return sorted(one.text for one in listed)


def stored(caller, episode):
    with scope(caller.tenant_id):
        return Episode.objects.get(id=episode.id)


def test_a_changed_fact_closes_the_old_one_where_the_new_one_begins(acme):
    old, new = state(acme.caller, TUESDAY), state(acme.caller, THURSDAY)
    assert new.supersedes == (old.id,)
    closed = stored(acme.caller, old)
    assert (closed.valid_to, closed.superseded_by) == (new.created_at, new.id)
    assert closed.version == 2
    assert holding(acme.caller) == [THURSDAY]
    assert holding(acme.caller, history=True) == [THURSDAY, TUESDAY]


def test_recall_finds_the_new_one_only_unless_it_is_asked_for_then(acme):
    old = state(acme.caller, TUESDAY)
    between = timezone.now()
    state(acme.caller, THURSDAY)
    vector = embed_query("When do we deploy?", tenant_id=acme.tenant.id)

    def found(**where):
        hits = nearest_episodes(caller=acme.caller, vector=vector, where=EpisodeFilter(**where), limit=9)
        return sorted(hit.episode.text for hit in hits)

    for subject in ({}, {"user_id": "u1"}, {"memory_types": ("semantic",)}):
        assert found(**subject) == [THURSDAY]
        assert found(**subject, as_of=between) == [TUESDAY]
        assert found(**subject, history=True) == [THURSDAY, TUESDAY]
        assert found(**subject, as_of=old.created_at - timedelta(seconds=1)) == []


@pytest.mark.parametrize("other", [
    {"user_id": "u2"}, {"agent_id": "ada"}, {"project": "apollo"}, {"namespace": "n"},
    {"memory_type": "episodic"}, {"memory_type": "message"},
])  # fmt: skip
def test_the_memory_of_others_and_what_happened_stay(acme, other):
    state(acme.caller, TUESDAY)
    new = state(acme.caller, THURSDAY, **other)
    assert new.supersedes == ()
    assert holding(acme.caller) == [THURSDAY, TUESDAY]


def test_additions_stay_beside_each_other(acme):
    for text in ("Ana likes tea.", "Ana likes coffee.", "Ana speaks Spanish.", "Bob likes tea."):
        assert state(acme.caller, text).supersedes == ()
    assert len(holding(acme.caller)) == 4


def test_globex_does_not_close_what_acme_knows(acme, globex):
    state(acme.caller, TUESDAY)
    state(globex.caller, THURSDAY)
    assert holding(acme.caller) == [TUESDAY]


def test_what_began_earlier_but_is_told_later_ends_where_the_other_begins(acme):
    now = timezone.now()
    newer = state(acme.caller, THURSDAY, valid_from=now - timedelta(days=1))
    older = state(acme.caller, TUESDAY, valid_from=now - timedelta(days=9))
    assert older.supersedes == ()
    told_later = stored(acme.caller, older)
    assert (told_later.valid_to, told_later.superseded_by) == (newer.valid_from, newer.id)
    assert holding(acme.caller) == [THURSDAY]
    assert holding(acme.caller, as_of=now - timedelta(days=5)) == [TUESDAY]
    assert holding(acme.caller, as_of=now - timedelta(days=10)) == []


def test_what_does_not_hold_yet_is_refused_and_a_clock_a_little_ahead_is_not(acme):
    now = timezone.now()
    with pytest.raises(Invalid) as refused:
        state(acme.caller, TUESDAY, valid_from=now + timedelta(minutes=6))
    assert refused.value.field == "valid_from"
    assert state(acme.caller, TUESDAY, valid_from=now + timedelta(minutes=4), now=now).valid_from == now


def test_without_the_model_the_newest_statements_are_compared(acme, model_away):
    state(acme.caller, TUESDAY)
    state(acme.caller, THURSDAY)
    assert holding(acme.caller) == [THURSDAY]


def test_a_statement_that_waits_for_its_vector_is_compared_and_embedded_as_closed(acme, model_away):
    old = state(acme.caller, TUESDAY)
    embeddings.reset_embedder()  # the model is back
    new = state(acme.caller, THURSDAY)
    assert new.supersedes == (old.id,)
    embed_pending()
    with scope(acme.tenant.id):
        ends = dict(EpisodeEmbedding.objects.values_list("episode_id", "valid_to"))
    assert ends == {old.id: stored(acme.caller, old).valid_to, new.id: None}
    vector = embed_query(TUESDAY, tenant_id=acme.tenant.id)
    hits = nearest_episodes(caller=acme.caller, vector=vector, where=EpisodeFilter(), limit=9)
    assert [hit.episode.id for hit in hits] == [new.id]


def test_of_writers_at_the_same_time_one_is_left(acme):
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")

    def write(day):
        try:
            return state(acme.caller, f"The deploy window is {day}.")
        finally:
            connections.close_all()

    for _round in range(3):
        with ThreadPoolExecutor(len(days)) as pool:
            list(pool.map(write, days))
        assert len(holding(acme.caller)) == 1
