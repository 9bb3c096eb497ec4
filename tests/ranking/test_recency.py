"""Recency: the last use and the writing, each fading to half in its own time."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.ranking.recency import RecencyWeights, recency_of, score_of

USUAL = RecencyWeights()
DAYS = st.floats(-1_000, 100_000)
WEIGHTS = st.builds(
    RecencyWeights,
    freshness=st.floats(-5, 5),
    novelty=st.floats(-5, 5),
    half_life_last_access_days=st.floats(0, 1_000),
    half_life_created_days=st.floats(0, 1_000),
)


def recency(unused, age, weights=USUAL):
    return recency_of(weights, unused_days=np.array([unused]), age_days=np.array([age]))[0]


@pytest.mark.parametrize(("unused", "age", "expected"), [
    (0, 0, 1.0), (7, 30, 0.5), (0, 30, 0.8), (7, 0, 0.7), (14, 60, 0.25), (10_000, 10_000, 0.0),
    (-3, -1, 1.0),
])  # fmt: skip
def test_each_fades_to_half_in_its_half_life(unused, age, expected):
    assert recency(unused, age) == pytest.approx(expected)


def test_the_score_is_the_weighted_sum():
    score = score_of(RecencyWeights(), cosines=np.array([0.5]), recency=np.array([0.25]))
    assert score == pytest.approx([0.8 * 0.5 + 0.2 * 0.25])
    assert RecencyWeights().formula() == "score = 0.8 · cosine + 0.2 · recency"


@given(DAYS, DAYS, WEIGHTS)
def test_it_lies_between_0_and_1_whatever_the_weights_are(unused, age, weights):
    assert 0 <= recency(unused, age, weights) <= 1


@given(DAYS, DAYS, st.floats(0, 1_000))
def test_what_is_longer_ago_is_never_more_recent(unused, age, more):
    assert recency(unused + more, age) <= recency(unused, age)
    assert recency(unused, age + more) <= recency(unused, age)


def test_without_a_half_life_only_this_moment_counts():
    weights = RecencyWeights(half_life_last_access_days=0, half_life_created_days=math.inf)
    assert recency(0, 5, weights) == 1.0
    assert recency(0.001, 5, weights) == pytest.approx(0.4)
