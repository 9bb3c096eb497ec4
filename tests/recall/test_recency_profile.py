"""The ranking by likeness, last use and age: over all candidates, not over the best few."""

from datetime import timedelta

import pytest
from django.utils import timezone

from episodic import access
from episodic.models import Episode
from episodic.types import EpisodeFilter
from recall.ranking.recency import RecencyWeights
from recall.recall import recall
from recall.types import RecallQuery
from tenants.scope import scope
from tests.recall.talking import decide
from tests.recall.vectors import fill, unit_vectors

VECTORS = unit_vectors(120)
QUERY = unit_vectors(1, seed=9)[0]
NOW = timezone.now()


def ask(caller, *, top_k=5, weights=None, embedding=QUERY, now=NOW, user_id="u1", profile="recency", **where):
    query = RecallQuery("x", EpisodeFilter(user_id=user_id, **where), top_k, profile, recency_weights=weights)
    return recall(caller=caller, query=query, embedding=lambda: embedding, now=now, counted=False)


def use(caller, *episodes, at=NOW):
    access.note_access(caller=caller, ids=[one.id for one in episodes], now=at)
    access.flush()


@pytest.fixture
def stored(caller):
    """Written one day after the other: number 0 today, number 119 four months ago."""
    return fill(
        caller, VECTORS, user_id="u1", created_at=lambda n: NOW - timedelta(days=n),
        topics=lambda n: ["even"] if n % 2 == 0 else [],
    )  # fmt: skip


def expected(weights, used):
    """The scores by the formula, of every episode."""
    cosines = VECTORS @ QUERY
    for n, cosine in enumerate(cosines.tolist()):
        unused = used.get(n, n)
        recency = weights.freshness * 2 ** (-unused / weights.half_life_last_access_days)
        recency += weights.novelty * 2 ** (-n / weights.half_life_created_days)
        yield n, weights.semantic * cosine + weights.recency * min(max(recency, 0), 1)


@pytest.mark.parametrize("weights", [
    RecencyWeights(), RecencyWeights(semantic=0.2, recency=0.8),
    RecencyWeights(freshness=1, novelty=0, half_life_last_access_days=1), RecencyWeights(recency=0),
], ids=["usual", "recency", "last use", "likeness"])  # fmt: skip
def test_the_best_of_all_are_answered_with_the_scores_of_the_formula(caller, stored, weights):
    use(caller, stored[100], stored[110])
    use(caller, stored[90], at=NOW - timedelta(days=3))
    scores = dict(expected(weights, {100: 0, 110: 0, 90: 3}))
    best = sorted(scores, key=lambda n: -scores[n])[:10]
    found = ask(caller, top_k=10, weights=weights)
    assert [hit.episode.text for hit in found.hits] == [f"episode {n}" for n in best]
    assert [hit.score for hit in found.hits] == pytest.approx([scores[n] for n in best], abs=1e-5)
    assert found.hits[0].signals.keys() == {"cosine", "recency"}
    assert found.formula == weights.formula()


def test_what_was_used_last_is_ranked_though_neither_near_nor_new(caller, stored):
    far = min(stored[60:], key=lambda one: float(VECTORS[int(one.text.split()[1])] @ QUERY))
    weights = RecencyWeights(semantic=0.01, recency=0.99, freshness=1, novelty=0)
    use(caller, far)
    best = ask(caller, top_k=2, weights=weights).hits
    assert far.id in {hit.episode.id for hit in best}
    assert next(hit.arm for hit in best if hit.episode.id == far.id) == "accessed"


@pytest.mark.parametrize("k", [1, 60, 120, 200])
def test_k_are_answered_where_k_match(caller, stored, k):
    use(caller, *stored[50:90])
    assert len({hit.episode.id for hit in ask(caller, top_k=k).hits}) == min(k, 120)
    assert len(ask(caller, top_k=k, topics=("even",)).hits) == min(k, 60)
    assert len(ask(caller, top_k=k, since=NOW - timedelta(days=10, minutes=1)).hits) == min(k, 11)


def test_what_was_used_is_answered_only_where_the_filter_admits_it(caller, stored, globex):
    use(caller, *stored[40:80])
    assert all("even" in hit.episode.topics for hit in ask(caller, topics=("even",), top_k=50).hits)
    assert ask(caller, user_id="u2").hits == ()
    assert ask(globex.caller).hits == ()
    until = NOW - timedelta(days=30)
    assert all(hit.episode.created_at <= until for hit in ask(caller, until=until, top_k=50).hits)


def test_at_a_moment_a_later_use_is_no_age(caller, stored):
    use(caller, stored[100])
    found = ask(caller, as_of=NOW - timedelta(days=90), top_k=200)
    assert {int(hit.episode.text.split()[1]) for hit in found.hits} == set(range(90, 120))
    assert all(0 <= hit.signals["recency"] <= 1 for hit in found.hits)


def test_the_policy_may_choose_it_and_leave_out_what_is_old(caller, stored):
    use(caller, stored[100])
    decide(caller, recall={"profile": "recency", "session_recency_days": 7})
    found = ask(caller, profile=None, top_k=50)
    assert found.profile == "recency"
    assert len(found.hits) == 8


def test_what_was_never_used_was_last_used_when_it_was_written(caller, stored):
    (hit,) = [one for one in ask(caller, top_k=120).hits if one.episode.text == "episode 7"]
    assert hit.signals["recency"] == pytest.approx(0.6 * 0.5 + 0.4 * 2 ** (-7 / 30))
    with scope(caller.tenant_id):
        assert Episode.objects.filter(tenant_id=caller.tenant_id).count() == 120
