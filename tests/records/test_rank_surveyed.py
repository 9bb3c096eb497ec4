"""The best of what was looked at are the best of all, whenever that is said to be so."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from episodic.surveyed import NEVER, Survey, Unseen
from recall.ranking.recency import RecencyWeights
from recall.ranking.surveyed import Ranking, found_in_all, is_decided, rank

share = some.floats(0, 1)
DAY = 86_400.0
AT = 1_000 * DAY


def a_survey(size):
    return some.builds(
        lambda seed, spread: _survey(np.random.default_rng(seed), size, spread),
        some.integers(0, 10_000),
        some.sampled_from([0.01, 1.0, 100.0]),
    )


def _survey(random, size, spread):
    created = AT - random.exponential(spread, size) * DAY
    used = np.where(random.random(size) < 0.3, created + random.random(size) * (AT - created), created)
    cosines = np.where(random.random(size) < 0.1, np.nan, random.uniform(-0.2, 1, size))
    words = np.where(random.random(size) < 0.5, 0.0, random.exponential(2, size))
    ids = np.array([n.to_bytes(16, "big") for n in range(size)], dtype="V16")
    return Survey(ids, cosines, words, created, used, size)


def looked_at(survey, most):
    """The `most` that lead in each respect, and what the others do not surpass."""
    leaders, bounds = set(), {}
    for name in ("cosines", "words", "created", "used"):
        values = np.nan_to_num(getattr(survey, name), nan=NEVER, neginf=NEVER)
        best = np.argsort(-values)[:most]
        leaders |= set(best.tolist())
        bounds[name] = float(values[best[-1]])
    rows = np.array(sorted(leaders), dtype=np.intp)
    part = {name: getattr(survey, name)[rows] for name in ("ids", "cosines", "words", "created", "used")}
    unseen = Unseen(bounds["cosines"], bounds["words"], bounds["created"], bounds["used"])
    return Survey(**part, total=survey.total, unseen=unseen)


@given(
    survey=a_survey(80),
    most=some.sampled_from([3, 10, 40]),
    end=some.integers(0, 12),
    mode=some.sampled_from(["semantic", "keyword", "hybrid"]),
    alpha=share,
    weights=some.none() | some.builds(RecencyWeights, share, share, share, share),
    farthest=some.none() | some.floats(0, 1.2),
)
def test_what_is_decided_is_what_everything_would_decide(survey, most, end, mode, alpha, weights, farthest):
    ranking = Ranking(mode, alpha, weights, farthest if mode == "semantic" else None, AT)
    whole, part = rank(ranking, survey, 80), looked_at(survey, most)
    assert is_decided(ranking, survey, whole, end)
    ranked = rank(ranking, part, end)
    if not is_decided(ranking, part, ranked, end):
        return
    best = whole.scores[whole.rows[:end]]
    found = ranked.scores[ranked.rows]
    np.testing.assert_allclose(found, best, atol=1e-12)
    if mode != "keyword":
        assert found_in_all(ranking, part, ranked) == (
            whole.count if ranking.farthest is not None else survey.total
        )


def test_of_equals_the_newer_comes_first():
    ids = np.array([n.to_bytes(16, "big") for n in (5, 1 << 80, 7)], dtype="V16")
    same = np.ones(3)
    ranked = rank(Ranking("semantic", 0.7, None, None, AT), Survey(ids, same, same, same, same, 3), 3)
    assert ranked.rows.tolist() == [1, 2, 0]


def test_with_few_looked_at_nothing_is_decided_that_others_could_change():
    survey = _survey(np.random.default_rng(1), 80, 1.0)
    part = looked_at(survey, 1)
    ranking = Ranking("semantic", 0.7, RecencyWeights(), None, AT)
    assert not is_decided(ranking, part, rank(ranking, part, 50), 50)
