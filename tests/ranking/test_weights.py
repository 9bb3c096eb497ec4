"""A score is the sum of its parts; the default weights are those of their file."""

import json
from typing import get_args

import numpy as np
import pytest

from recall.ranking.signals import BESIDE, SIGNALS
from recall.ranking.weights import DEFAULT, Weights, default_weights
from tenants.policy.document import Signal


def test_the_parts_add_up_to_the_score():
    rows = np.random.default_rng(0).normal(size=(5, len(SIGNALS)))
    weights = default_weights()
    for row, score in zip(rows, weights.score(rows), strict=True):
        assert sum(weights.explain(row).values()) == pytest.approx(score)


def test_the_file_has_a_weight_for_every_signal():
    held = json.loads(DEFAULT.read_text())
    assert held["weights"].keys() | held["set"].keys() == set(SIGNALS)
    assert not held["weights"].keys() & held["set"].keys()


def test_a_policy_names_the_same_signals():
    assert get_args(Signal) == SIGNALS
    assert set(BESIDE) < set(SIGNALS)


def test_an_unknown_signal_is_refused(tmp_path):
    with pytest.raises(ValueError, match="colour"):
        Weights.of({"colour": 1.0})
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({"weights": {"words": 2.0}}))
    assert Weights.read(path).values.sum() == 2.0


def test_some_weights_can_be_changed():
    changed = default_weights().changed({"words": 9.0})
    differing = [
        n for n, one in zip(SIGNALS, changed.values == default_weights().values, strict=True) if not one
    ]
    assert differing == ["words"]
