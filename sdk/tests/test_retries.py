"""Which failures are tried again, and that all attempts are one write."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from strata_memory import AsyncStrataClient
from strata_memory.errors import ConnectionFailed, DeadlineExceeded, InvalidAnswer, RateLimited, ServerError
from strata_memory.retrying import retry_after

from sdk.tests.clients import BOTH
from sdk.tests.clock import hurried

DONE = {"accepted": 1, "duplicates": 0, "turn_count": 1, "summarised": False}
TURN = {"role": "user", "content": "half a pair: \ud83d"}


class Answers(httpx.MockTransport):
    """Answers one after the other, and keeps what was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        super().__init__(self._next)
        self.answers, self.asked = list(answers), list[httpx.Request]()

    def _next(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def append(client: Any) -> Any:
    return client.sessions.append_turns("s", turns=[TURN])


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize(
    "failure",
    [
        httpx.Response(429, headers={"Retry-After": "0"}),
        httpx.Response(502, text="<html>"),
        httpx.Response(503, headers={"Retry-After": "0"}),
        httpx.Response(504),
        httpx.ConnectError("away"),
        httpx.ReadError("cut"),
    ],
)
def test_what_may_pass_is_tried_again_as_the_same_write(
    asked: Callable[..., Any], failure: httpx.Response | Exception
) -> None:
    answers = Answers(failure, httpx.Response(200, json=DONE))
    assert asked(append, "http://strata", transport=answers).turn_count == 1
    first, second = answers.asked
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    assert (first.content, first.url) == (second.content, second.url)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 418, 422, 500, 501])
def test_what_stays_is_not_tried_again(status: int) -> None:
    answers = Answers(httpx.Response(status))
    with pytest.raises(Exception) as raised:
        BOTH[0](append, "http://strata", transport=answers)
    assert getattr(raised.value, "status", None) == status
    assert len(answers.asked) == 1


def test_two_writes_are_two() -> None:
    answers = Answers(httpx.Response(200, json=DONE), httpx.Response(200, json=DONE))
    BOTH[0](lambda client: (append(client), append(client)), "http://strata", transport=answers)
    assert len({request.headers["Idempotency-Key"] for request in answers.asked}) == 2


def test_no_wait_is_begun_that_ends_after_the_deadline() -> None:
    answers = Answers(httpx.Response(429, headers={"Retry-After": "3600"}))
    with pytest.raises(RateLimited) as raised:
        BOTH[0](append, "http://strata", transport=answers)
    assert raised.value.retry_after == 3600


async def never(_request: httpx.Request) -> httpx.Response:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(("timeout", "bound"), [(7.0, None), (600.0, 7.0)])
def test_a_call_that_is_never_answered_ends_at_its_deadline(timeout: float, bound: float | None) -> None:
    async def caller() -> Any:
        client = AsyncStrataClient(
            "http://strata", "key", timeout=timeout, transport=httpx.MockTransport(never)
        )
        return await append(client.bound(timeout=bound))

    error, passed = hurried(caller())
    assert isinstance(error, DeadlineExceeded)
    assert passed == pytest.approx(7)


def test_attempts_and_the_waits_between_them_have_one_deadline() -> None:
    asked: list[httpx.Request] = []

    async def late(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        await asyncio.sleep(3)
        return httpx.Response(503, headers={"Retry-After": "1"})

    async def caller() -> Any:
        client = AsyncStrataClient(
            "http://strata", "key", timeout=10, retries=9, transport=httpx.MockTransport(late)
        )
        return await append(client)

    error, passed = hurried(caller())
    assert isinstance(error, DeadlineExceeded)
    assert (len(asked), passed) == (3, pytest.approx(10))


def test_the_last_failure_is_told() -> None:
    answers = Answers(httpx.ReadError("cut"), httpx.ConnectError("a"), httpx.ConnectError("away"))
    with pytest.raises(ConnectionFailed, match="strata: away") as raised:
        BOTH[0](append, "http://strata", transport=answers)
    assert raised.value.reached_server  # the first one may have arrived


def test_none_is_tried_again_where_there_shall_be_no_retries() -> None:
    answers = Answers(httpx.Response(503))
    with pytest.raises(ServerError):
        BOTH[0](append, "http://strata", transport=answers, retries=0)
    assert len(answers.asked) == 1


def test_an_answer_that_lacks_what_is_always_there_is_not_taken() -> None:
    with pytest.raises(InvalidAnswer, match="duplicates"):
        BOTH[0](append, "http://strata", transport=Answers(httpx.Response(200, json={"accepted": 1})))


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_a_deadline_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(ValueError):
        BOTH[0](append, "http://strata", timeout=timeout)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7), (" 0 ", 0), ("Thu, 01 Jan 2026 00:00:30 GMT", 30), ("Wed, 31 Dec 2025 00:00:00 GMT", 0),
        ("soon", None), ("-1", None), ("", None), (None, None), ("²", None),
        ("Thu, 01 Jan 2026 00:00:00 +9999999999999999", None),
    ],
)  # fmt: skip
def test_retry_after_is_read_as_a_number_or_a_date(header: str | None, seconds: float | None) -> None:
    assert retry_after(header, datetime(2026, 1, 1, tzinfo=UTC)) == seconds
