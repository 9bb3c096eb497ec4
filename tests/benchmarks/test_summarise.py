"""The figures of the benchmarks; what is measured is never a test."""

from tests.benchmarks.figures import summarise


def test_percentiles_and_rate_of_steady_calls() -> None:
    found = summarise([2.0] * 500, seconds=1.0, clients=1)
    assert (found.p50, found.p99, found.longest, found.rate) == (2.0, 2.0, 2.0, 500.0)


def test_a_stall_counts_for_every_call_it_held_up() -> None:
    found = summarise([1.0] * 899 + [100.0], seconds=1.0, clients=1)
    assert found.rate == 900.0
    assert found.p99 > 85  # one call in ten would have waited, the longest 100 ms
