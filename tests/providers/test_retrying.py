from datetime import UTC, datetime

import pytest

from providers.openai.retrying import LONGEST_PAUSE, backoff, read_retry_after, worth_asking_again

NOW = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)


def test_the_pause_doubles_up_to_a_limit():
    assert [backoff(n, 0) for n in (1, 2, 3)] == [0.25, 0.5, 1.0]
    assert backoff(10_000, 0) == LONGEST_PAUSE


def test_chance_takes_up_to_half_of_the_pause_away():
    assert backoff(1, 1) == 0.125


@pytest.mark.parametrize(("headers", "seconds"), [
    ({}, None),
    ({"retry-after": "7"}, 7),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
    ({"retry-after": "Wed, 01 May 2024 12:00:30 GMT"}, 30),
    ({"retry-after": "Wed, 01 May 2024 11:00:00 GMT"}, 0),
    ({"retry-after": "-3"}, 0),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "soon"}, None),
])  # fmt: skip
def test_a_servers_pause_is_read_in_every_form(headers, seconds):
    assert read_retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(("status", "code", "again"), [
    (429, None, True), (429, "insufficient_quota", False), (500, None, True), (503, None, True),
    (408, None, True), (401, None, False), (403, None, False), (404, None, False), (302, None, False),
])  # fmt: skip
def test_only_what_may_pass_by_itself_is_asked_again(status, code, again):
    assert worth_asking_again(status, code) is again
