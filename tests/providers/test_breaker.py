"""The circuit breaker, on a clock of its own."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from providers.breaker import LONGEST_COOLDOWN, Breaker, BreakerOpen


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(threshold=3, cooldown=10, clock=clock)


def fail(breaker: Breaker, times: int = 1, retry_after: float | None = None) -> None:
    for _ in range(times):
        breaker.admit()
        breaker.failed(retry_after)


def test_it_opens_after_so_many_failures_in_a_row(breaker):
    fail(breaker, 2)
    assert breaker.state == "closed"
    fail(breaker)
    assert breaker.state == "open"
    with pytest.raises(BreakerOpen) as refusal:
        breaker.admit()
    assert refusal.value.retry_after == 10


def test_a_success_between_failures_starts_the_count_anew(breaker):
    fail(breaker, 2)
    breaker.admit()
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.state == "closed"


def test_after_the_pause_one_call_is_let_through_and_the_others_are_not(breaker, clock):
    fail(breaker, 3)
    clock.now += 10
    assert breaker.state == "half-open"

    def admitted(_n: int) -> bool:
        try:
            breaker.admit()
        except BreakerOpen:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(admitted, range(64))) == 1


def test_the_probes_success_closes_it(breaker, clock):
    fail(breaker, 3)
    clock.now += 10
    breaker.admit()
    breaker.succeeded()
    assert breaker.state == "closed"
    fail(breaker, 2)
    assert breaker.state == "closed"


def test_the_probes_failure_opens_it_again_at_once(breaker, clock):
    fail(breaker, 3)
    clock.now += 10
    fail(breaker)
    assert breaker.state == "open"


def test_a_probe_that_tells_nothing_leaves_the_place_to_another(breaker, clock):
    fail(breaker, 3)
    clock.now += 10
    breaker.admit()
    breaker.abandoned()
    breaker.admit()
    with pytest.raises(BreakerOpen):
        breaker.admit()


def test_a_server_that_names_its_pause_gets_that_one_within_reason(breaker, clock):
    fail(breaker, 3, retry_after=42)
    clock.now += 41
    assert breaker.state == "open"
    clock.now += 1
    fail(breaker, retry_after=1e9)
    clock.now += LONGEST_COOLDOWN
    assert breaker.state == "half-open"
