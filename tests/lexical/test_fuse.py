import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexical.fusion import fuse

IDS = st.integers(1, 12)
SCORES = st.one_of(st.floats(-1, 40), st.integers(-2, 3).map(float))
RANKINGS = st.dictionaries(IDS, SCORES, max_size=8)
# A quarter of each of these is an exact number too; of one still nearer to 0 it may be 0.
EXACT = st.dictionaries(IDS, SCORES.filter(lambda score: not 0 < abs(score) < 1e-300), max_size=8)
WEIGHTS = st.floats(0, 1)


def test_each_signal_is_brought_to_the_same_scale():
    fused = fuse(keyword={1: 12.0, 2: 7.0, 3: 2.0}, semantic={1: 0.2, 2: 0.6, 3: 0.4}, weight=0.5)
    assert fused == [(2, 0.75), (1, 0.5), (3, pytest.approx(0.25))]


def test_the_weight_is_the_keyword_signals():
    keyword, semantic = {1: 9.0, 2: 1.0}, {1: 0.1, 2: 0.9}
    assert fuse(keyword=keyword, semantic=semantic, weight=0.75) == [(1, 0.75), (2, 0.25)]
    assert fuse(keyword=keyword, semantic=semantic, weight=0.25) == [(2, 0.75), (1, 0.25)]


def test_the_least_of_those_found_is_above_what_was_not_found():
    fused = fuse(keyword={1: 8.0, 2: 2.0}, semantic={3: 0.5}, weight=1.0)
    assert fused == [(1, 1.0), (2, 0.25), (3, 0.0)]


def test_one_candidate_and_equal_scores_have_the_whole_score():
    assert fuse(keyword={7: 0.0}, semantic={7: -0.5}, weight=0.3) == [(7, 1.0)]
    assert fuse(keyword={5: 2.0, 3: 2.0}, semantic={}, weight=0.6) == [(3, 0.6), (5, 0.6)]
    assert fuse(keyword={1: 0.0, 2: 0.0}, semantic={3: 1.0}, weight=0.5) == [(1, 0.5), (2, 0.5), (3, 0.5)]


def test_a_score_that_is_no_number_counts_as_not_found():
    fused = fuse(keyword={1: 3.0, 2: 1.0}, semantic={1: math.nan, 2: 0.4, 3: math.inf}, weight=0.5)
    assert fused == [(2, pytest.approx(0.5 / 3 + 0.5)), (1, 0.5), (3, 0.0)]


def test_nothing_fused_is_nothing():
    assert fuse(keyword={}, semantic={}, weight=0.5) == []


@given(RANKINGS, RANKINGS, WEIGHTS)
def test_every_item_comes_once_best_first_and_ties_by_id(keyword, semantic, weight):
    fused = fuse(keyword=keyword, semantic=semantic, weight=weight)
    assert {one for one, _ in fused} == keyword.keys() | semantic.keys()
    assert len(dict(fused)) == len(fused)
    assert fused == sorted(fused, key=lambda item: (-item[1], item[0]))
    assert all(0 <= score <= 1 + 1e-9 for _, score in fused)


@given(RANKINGS, RANKINGS, WEIGHTS)
def test_an_item_no_worse_in_both_is_no_worse(keyword, semantic, weight):
    """Missing counts as no better than anything that is there."""
    fused = fuse(keyword=keyword, semantic=semantic, weight=weight)
    for (one, score), (other, other_score) in product(fused, fused):
        if all(rank.get(one, -math.inf) >= rank.get(other, -math.inf) for rank in (keyword, semantic)):
            assert score >= other_score


@given(RANKINGS, RANKINGS, WEIGHTS, st.randoms(use_true_random=False))
def test_the_order_in_which_items_come_does_not_matter(keyword, semantic, weight, shuffle):
    items = list(keyword.items())
    shuffle.shuffle(items)
    assert fuse(keyword=dict(items), semantic=semantic, weight=weight) == fuse(
        keyword=keyword, semantic=semantic, weight=weight
    )


@given(EXACT, RANKINGS, WEIGHTS, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_unit_of_a_signal_does_not_matter(keyword, semantic, weight, unit):
    scaled = {one: score * unit for one, score in keyword.items()}
    fused = dict(fuse(keyword=keyword, semantic=semantic, weight=weight))
    assert dict(fuse(keyword=scaled, semantic=semantic, weight=weight)) == pytest.approx(fused)


@given(st.dictionaries(IDS, st.floats(0.01, 40), min_size=1), st.floats(0.01, 1))
def test_with_one_signal_its_own_order_remains(keyword, weight):
    fused = fuse(keyword=keyword, semantic={}, weight=weight)
    # Two that hardly differ may be given the same score, and then come by id.
    assert [keyword[one] for one, _ in fused] == pytest.approx(sorted(keyword.values(), reverse=True))
