"""Weights are learnt from judged queries."""

import numpy as np
import pytest

from recall.ranking.fitting import Judged, fit_weights


def judged(count, truth, seed=0):
    """Queries of which the best candidate by `truth`, with some noise, is the relevant one."""
    drawn = np.random.default_rng(seed)
    for _ in range(count):
        signals = drawn.normal(size=(30, len(truth)))
        noisy = signals @ truth + drawn.gumbel(size=30)
        yield Judged(signals, noisy == noisy.max())


def test_the_weights_that_made_the_judgements_are_found():
    truth = np.array([2.0, -1.0, 0.0])
    assert fit_weights(list(judged(2_000, truth)), l2=1e-4) == pytest.approx(truth, abs=0.15)


def test_what_never_varies_weighs_nothing():
    queries = [
        Judged(np.c_[one.signals, np.ones(30)], one.relevant) for one in judged(50, np.array([1.0, 1.0]))
    ]
    assert fit_weights(queries)[2] == 0


def test_a_stronger_penalty_makes_smaller_weights():
    queries = list(judged(100, np.array([2.0, -1.0])))
    assert np.abs(fit_weights(queries, l2=1.0)).sum() < np.abs(fit_weights(queries, l2=1e-4)).sum()


def test_a_signal_that_parts_them_perfectly_does_not_run_away():
    relevant = np.arange(10) == 0
    weights = fit_weights([Judged(relevant[:, np.newaxis].astype(float), relevant)] * 5)
    assert np.isfinite(weights).all()


def test_queries_without_a_relevant_candidate_teach_nothing():
    one = next(judged(1, np.array([1.0])))
    nothing = Judged(one.signals, np.zeros(30, dtype=bool))
    assert fit_weights([one, nothing]) == pytest.approx(fit_weights([one]))
    with pytest.raises(ValueError, match="relevant"):
        fit_weights([nothing])
