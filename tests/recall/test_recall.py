"""Recall ranks by likeness, recency and exact names."""

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from episodic.entities import NewEntity, put_entity
from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.fused import NEAREST
from recall.recall import recall
from recall.types import RecallQuery
from tenants.scope import scope
from tests.conftest import make_member
from tests.recall.talking import decide as decide_policy
from tests.recall.vectors import fill, unit_vectors

NOW = timezone.now()
QUERY, ASIDE = unit_vectors(2, seed=7)


def at(cosine, away=None):
    """A direction with this cosine to the query."""
    away = ASIDE if away is None else away
    away = away - (away @ QUERY) * QUERY
    return (cosine * QUERY + np.sqrt(1 - cosine**2) * away / np.linalg.norm(away)).astype(np.float32)


def keep(caller, *memories, user_id="u1"):
    """Episodes: text, cosine, age in days, further fields."""
    vectors = np.array([at(cosine) for _text, cosine, _days, _more in memories])
    episodes = fill(caller, vectors, user_id=user_id)
    with scope(caller.tenant_id):
        for episode, (text, _cosine, days, more) in zip(episodes, memories, strict=True):
            named = {"text": text, "created_at": NOW - timedelta(days=days)} | more
            Episode.objects.filter(id=episode.id).update(**named)


def ask(caller, text="what is it", **named):
    where = {name: named.pop(name) for name in ("as_of", "topics", "since") if name in named}
    query = RecallQuery(
        text=text, where=EpisodeFilter(user_id="u1", **where), **{"profile": "fused", "top_k": 5} | named
    )
    return recall(caller=caller, query=query, embedding=lambda: QUERY, now=NOW)


def texts(found):
    return [hit.episode.text for hit in found.hits]


def decide(caller, **fields):
    decide_policy(caller, recall=fields)


def test_an_old_likeness_and_a_new_memory_win_each_under_its_alpha(caller):
    keep(caller, ("old", 0.9, 90, {}), ("new", 0.6, 0, {}))
    usual = ask(caller)
    assert texts(usual) == ["new", "old"]
    assert [hit.score for hit in usual.hits] == pytest.approx([0.75 * 0.6 + 0.25, 0.75 * 0.9], abs=1e-6)
    assert texts(ask(caller, alpha=0.85)) == ["old", "new"]
    assert texts(ask(caller, alpha=1.0)) == ["old", "new"]
    assert texts(ask(caller, decay=0.0)) == ["old", "new"], "without decay nothing is older than anything"


def test_similarity_alone_knows_no_other_signal(caller):
    keep(caller, ("old", 0.9, 90, {}), ("new", 0.8, 0, {"topics": ["it"]}))
    found = ask(caller, profile="similarity")
    assert texts(found) == ["old", "new"]
    assert [hit.signals for hit in found.hits] == [{"cosine": hit.score} for hit in found.hits]


def test_age_counts_from_when_it_happened(caller):
    keep(caller, ("long ago", 0.7, 0, {"event_date": NOW - timedelta(days=400)}), ("now", 0.6, 0, {}))
    found = ask(caller)
    assert texts(found) == ["now", "long ago"]
    assert [hit.signals["recency"] for hit in found.hits] == pytest.approx([1, 0], abs=1e-6)


def test_what_held_at_a_moment_is_as_old_as_it_was_then(caller):
    keep(caller, ("x", 0.5, 100, {}))
    (hit,) = ask(caller, as_of=NOW - timedelta(days=100) + timedelta(hours=10)).hits
    assert hit.signals["recency"] == pytest.approx(np.exp(-0.8), abs=1e-6)


def test_a_new_memory_wins_from_far_behind_the_nearest(caller):
    fill(caller, np.array([at(0.5, away) for away in unit_vectors(NEAREST + 30)]), user_id="u1")
    keep(caller, ("new", 0.4, 0, {}))
    found = ask(caller, top_k=3)
    assert texts(found)[0] == "new"
    assert [hit.arm for hit in found.hits] == ["newest", "vector", "vector"]
    assert found.hits[0].signals["cosine"] == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("more", [{"topics": ["Invoices", "Rotterdam"]}, {"entities": ["rotterdam"]}])
def test_an_episode_that_names_what_was_asked_about_is_moved_up(caller, more):
    keep(caller, ("near", 0.6, 9, {"topics": ["Rotter"]}), ("named", 0.5, 9, more))
    found = ask(caller, "Anything from ROTTERDAM?")
    assert texts(found) == ["named", "near"]
    assert [hit.signals["entity"] for hit in found.hits] == [0.2, 0.0]
    decide(caller, entity_boost=0)
    assert texts(ask(caller, "Anything from ROTTERDAM?")) == ["near", "named"]


def test_a_slot_s_value_in_question_and_episode_moves_it_up(caller):
    put_entity(caller=caller, new=NewEntity(user_id="u1", key="city", value="Lisbon"), now=NOW)
    put_entity(caller=caller, new=NewEntity(user_id="u2", key="city", value="Oslo"), now=NOW)
    keep(caller, ("It rains in Oslo.", 0.6, 9, {}), ("It is warm in Lisbon.", 0.5, 9, {}))
    assert texts(ask(caller, "Weather in lisbon or Oslo?"))[0] == "It is warm in Lisbon."
    assert texts(ask(caller, "Weather?"))[0] == "It rains in Oslo."


def test_without_a_boost_no_slot_is_read(caller):
    keep(caller, ("x", 0.5, 1, {}))
    stages = [one.name for one in ask(caller).stages]
    assert stages == ["embed", "slots", "vector", "fusion"]
    decide(caller, entity_boost=0)
    assert [one.name for one in ask(caller).stages] == ["embed", "vector", "fusion"]


def test_only_what_was_written_lately_is_recalled_if_the_policy_says_so(caller):
    keep(caller, ("old", 0.9, 8, {}), ("new", 0.1, 6, {}))
    assert texts(ask(caller)) == ["old", "new"]
    decide(caller, session_recency_days=7)
    assert texts(ask(caller)) == ["new"]
    assert texts(ask(caller, topics=("none",))) == []
    assert texts(ask(caller, profile="similarity")) == ["old", "new"]


def test_alpha_and_decay_are_the_policy_s_unless_the_question_names_its_own(caller):
    keep(caller, ("x", 0.5, 1, {}))
    decide(caller, alpha=0.6, decay=0.01)
    assert ask(caller).hits[0].score == pytest.approx(0.6 * 0.5 + 0.4 * np.exp(-0.24), abs=1e-6)
    assert ask(caller, alpha=0.0, decay=0.1).hits[0].score == pytest.approx(np.exp(-2.4), abs=1e-6)


@pytest.mark.parametrize("k", [1, 20, 60, 200, 400])
def test_as_many_as_asked_for_are_answered_where_so_many_match(many, k):
    found = ask(many, top_k=k)
    assert len(found.hits) == min(k, 300)
    assert len({hit.episode.id for hit in found.hits}) == len(found.hits)
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert len(ask(many, top_k=k, topics=("rare",)).hits) == min(k, 30)


@pytest.fixture(scope="module")
def many(server):
    caller = make_member("acme", server).caller
    fill(caller, unit_vectors(300), user_id="u1", topics=lambda n: ["rare"] if n % 10 == 0 else [])
    return caller


def test_a_memory_that_has_no_vector_yet_takes_no_new_one_s_place(caller):
    fill(caller, np.array([at(0.5, away) for away in unit_vectors(NEAREST + 30)]), user_id="u1")
    keep(caller, ("new", 0.4, 0, {}))
    with scope(caller.tenant_id):
        Episode.objects.bulk_create(
            Episode(tenant_id=caller.tenant_id, user_id="u1", text="waits", created_at=NOW) for _ in range(40)
        )
    assert texts(ask(caller, top_k=1)) == ["new"]
