import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lexical.bm25 import K1, Statistics, idf, most, scores

NUMBERS = st.integers(0, 10**9)


def test_the_values_are_the_formulas():
    assert math.isclose(idf(1, 1), math.log(1 + 0.5 / 1.5))
    assert math.isclose(idf(3, 100), math.log(1 + 97.5 / 3.5))


@given(NUMBERS, NUMBERS)
def test_every_lexeme_weighs_something_even_when_the_estimate_is_off(frequency, documents):
    assert 0 < idf(frequency, documents) < math.inf


@given(NUMBERS, NUMBERS, NUMBERS)
def test_the_rarer_lexeme_never_weighs_less(one, other, documents):
    rarer, commoner = sorted((one, other))
    assert idf(rarer, documents) >= idf(commoner, documents)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_a_lexeme_never_weighs_less_among_more_documents(frequency, one, other):
    fewer, more = sorted((one, other))
    assert idf(frequency, fewer) <= idf(frequency, more)


def test_a_lexeme_that_no_statistics_know_is_held_by_none():
    statistics = Statistics(documents=10, mean_length=4.0, frequencies={"pool": 3})
    assert statistics.idf(["pool", "unheard"]).tolist() == [idf(3, 10), idf(0, 10)]
    assert statistics.idf([]).shape == (0,)


@given(st.integers(0, 10**9), st.integers(0, 10**6), NUMBERS, st.just(0.0) | st.floats(0.01, 1e6))
def test_no_lexeme_adds_more_than_its_most(occurrences, length, frequency, mean_length):
    weight = idf(frequency, 10**6)
    score = scores(
        counts=np.array([[occurrences]]),
        lengths=np.array([length]),
        idf=np.array([weight]),
        mean_length=mean_length,
    )
    assert score[0] <= most(weight) == weight * (K1 + 1)
