"""How far verdicts move a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.feedback import Tally
from recall.feedback import boost

counts = st.integers(0, 1_000)


@pytest.mark.parametrize(("tally", "expected"), [
    (Tally(), 0.0), (Tally(helpful=1), 0.025), (Tally(not_helpful=1), -0.025), (Tally(harmful=1), -0.05),
    (Tally(helpful=1, not_helpful=1), 0.0), (Tally(helpful=2, harmful=1), 0.0), (Tally(helpful=7), 0.07),
    (Tally(harmful=3), -0.1), (Tally(harmful=9), -0.1),
])  # fmt: skip
def test_the_balance_of_the_verdicts_counts_more_the_more_there_are(tally, expected):
    assert boost(tally, 0.1) == pytest.approx(expected)


@given(counts, counts, counts, st.floats(0, 0.1))
def test_it_never_exceeds_the_weight(helpful, not_helpful, harmful, weight):
    assert -weight <= boost(Tally(helpful, not_helpful, harmful), weight) <= weight


@given(counts, counts, counts)
def test_one_more_helpful_verdict_never_lowers_it_and_one_more_harmful_never_raises_it(a, b, c):
    now = boost(Tally(a, b, c), 0.1)
    assert boost(Tally(a + 1, b, c), 0.1) >= now
    assert boost(Tally(a, b, c + 1), 0.1) <= now
