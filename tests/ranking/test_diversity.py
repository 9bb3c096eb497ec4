"""Maximal marginal relevance: relevant and unlike each other, as many as are wanted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.ranking.diversity import diversify, likeness_of

VECTORS = st.lists(
    st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3).map(
        lambda one: np.array(one, dtype=np.float32)
    ),
    max_size=12,
)
TEXTS = ("the shed is green", "the shed is green too", "tomatoes")


def places(scores, likeness, wanted, share):
    return [one.place for one in diversify(scores, likeness, wanted=wanted, share=share)]


@given(VECTORS, st.integers(0, 20), st.floats(0, 1), st.randoms())
def test_as_many_are_chosen_as_there_are_and_none_twice(vectors, wanted, share, random):
    scores = [random.uniform(-5, 5) for _ in vectors]
    likeness = likeness_of(vectors, [""] * len(vectors))
    chosen = diversify(scores, likeness, wanted=wanted, share=share)
    assert len({one.place for one in chosen}) == len(chosen) == min(wanted, len(vectors))
    assert all(0 <= one.relevance <= 1 and 0 <= one.likeness <= 1 + 1e-9 for one in chosen)


@given(VECTORS, st.integers(1, 20))
def test_by_relevance_alone_the_order_stays(vectors, wanted):
    scores = sorted((float(one.sum()) for one in vectors), reverse=True)
    likeness = likeness_of(vectors, [""] * len(vectors))
    assert places(scores, likeness, wanted, 1.0) == list(range(min(wanted, len(vectors))))


@given(VECTORS, st.floats(0, 1), st.integers(1, 12))
def test_each_choice_is_the_best_of_what_is_left(vectors, share, wanted):
    scores = [float(one.sum()) for one in vectors]
    likeness = likeness_of(vectors, [""] * len(vectors))
    chosen = diversify(scores, likeness, wanted=wanted, share=share)
    span = np.ptp(scores) if scores else 0
    relevance = [(one - min(scores)) / span if span else 1.0 for one in scores]
    for step, pick in enumerate(chosen):
        before = [one.place for one in chosen[:step]]

        def value(place, before=before):
            near = max((likeness[place, one] for one in before), default=0.0)
            return share * relevance[place] - (1 - share) * near

        left = set(range(len(scores))) - set(before)
        assert value(pick.place) == pytest.approx(max(value(one) for one in left), abs=1e-9)


@given(VECTORS)
def test_likeness_is_mutual_and_from_0_to_1(vectors):
    likeness = likeness_of(vectors, [""] * len(vectors))
    assert np.array_equal(likeness, likeness.T) or np.allclose(likeness, likeness.T)
    assert ((likeness >= 0) & (likeness <= 1)).all()


def test_the_first_is_the_most_relevant_and_its_copy_comes_late():
    vectors = [np.array(one, dtype=np.float32) for one in ([1, 0], [1, 0.01], [0, 1])]
    likeness = likeness_of(vectors, TEXTS)
    assert places([1.0, 0.99, 0.5], likeness, 3, 0.5) == [0, 2, 1]
    first, _second, copy = diversify([1.0, 0.99, 0.5], likeness, wanted=3, share=0.5)
    assert first.likeness == 0
    assert copy.likeness == pytest.approx(1, abs=1e-3)


def test_without_vectors_the_words_tell_what_is_alike():
    likeness = likeness_of([None, np.array([1, 0], dtype=np.float32), None], TEXTS)
    assert likeness[0, 1] == likeness[1, 0] == pytest.approx(4 / 5)
    assert likeness[1, 2] == 0
    assert places([1.0, 0.99, 0.7], likeness, 2, 0.4) == [0, 2]


def test_equal_scores_are_all_relevant():
    assert [one.relevance for one in diversify([2.0, 2.0], np.zeros((2, 2)), wanted=2, share=0.5)] == [1, 1]
    assert diversify([], np.zeros((0, 0)), wanted=3, share=0.5) == []
