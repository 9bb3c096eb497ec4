from hypothesis import given
from hypothesis import strategies as st

from tenants.jobs.backoff import LONGEST, delay


@given(attempts=st.integers(1, 10_000), chance=st.floats(0, 1, exclude_max=True))
def test_it_stays_between_half_and_all_of_a_bounded_time(attempts, chance):
    assert LONGEST >= delay(attempts, chance=chance) >= 1.0


def test_it_doubles_and_spreads():
    assert [delay(n, chance=0.0) for n in (1, 2, 3)] == [1.0, 2.0, 4.0]
    assert delay(3, chance=0.5) == 6.0


def test_it_is_never_shorter_than_a_provider_asks():
    assert delay(1, chance=0.0, at_least=30.0) == 30.0
