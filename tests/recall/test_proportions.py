import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.proportions import Sample, difference, effective, interval, rate

# Sessions, each with how many verdicts and how many helpful ones among them.
SESSIONS = st.lists(
    st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=1, max_size=30
)
NOTHING = Sample()


def sample(sessions):
    return Sample(
        verdicts=sum(n for n, _ in sessions),
        helpful=sum(h for _, h in sessions),
        units=len(sessions),
        verdicts_squared=sum(n * n for n, _ in sessions),
        helpful_squared=sum(h * h for _, h in sessions),
        both=sum(n * h for n, h in sessions),
    )


def single(helpful, verdicts):
    """Every verdict in a session of its own."""
    return sample([(1, 1)] * helpful + [(1, 0)] * (verdicts - helpful))


def test_wilson_s_interval_is_that_of_the_literature():
    """15 of 148, from Newcombe (1998): 0.0624 to 0.1605."""
    assert interval(single(15, 148)) == pytest.approx((0.0624, 0.1605), abs=5e-4)


def test_newcombe_s_interval_is_that_of_the_literature():
    """56/70 against 48/80, from Newcombe (1998), method 10: 0.0524 to 0.3339."""
    found, around = difference(single(48, 80), single(56, 70))
    assert found == pytest.approx(0.2)
    assert around == pytest.approx((0.0524, 0.3339), abs=5e-4)


@given(SESSIONS)
def test_the_share_lies_in_its_interval_and_that_within_0_and_1(sessions):
    low, high = interval(sample(sessions))
    assert 0 <= low <= rate(sample(sessions)) <= high <= 1
    assert low < high


@given(SESSIONS)
def test_verdicts_count_as_at_most_as_many_as_there_are_and_at_least_one(sessions):
    found = sample(sessions)
    assert 1 - 1e-9 <= effective(found) <= found.verdicts + 1e-9


@given(st.integers(0, 40), st.integers(1, 40))
def test_verdicts_of_a_session_each_count_in_full(helpful, more):
    assert effective(single(helpful, helpful + more)) == pytest.approx(helpful + more)


@given(st.integers(1, 20), st.integers(1, 20), st.integers(2, 20))
def test_sessions_that_agree_within_count_once_each(helpful, others, size):
    found = sample([(size, size)] * helpful + [(size, 0)] * others)
    assert effective(found) == pytest.approx(helpful + others)


@given(SESSIONS, SESSIONS)
def test_the_difference_lies_in_its_interval_and_turns_round_with_the_settings(one, other):
    found, (low, high) = difference(sample(one), sample(other))
    assert -1 <= low <= found <= high <= 1
    back, (back_low, back_high) = difference(sample(other), sample(one))
    assert (back, back_low, back_high) == pytest.approx((-found, -high, -low))


@given(st.integers(1, 50), st.integers(0, 50))
def test_more_verdicts_of_the_same_share_narrow_the_interval(helpful, others):
    low, high = interval(single(helpful, helpful + others))
    lower, higher = interval(single(4 * helpful, 4 * (helpful + others)))
    assert higher - lower < high - low
    assert not math.isnan(lower)


def test_without_verdicts_nothing_is_said():
    assert (rate(NOTHING), interval(NOTHING)) == (None, None)
    assert difference(NOTHING, single(1, 2)) is None
    assert difference(single(1, 2), NOTHING) is None
