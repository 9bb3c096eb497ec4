"""The helper classes of AEGIS where the server says something odd, or is not asked at all."""

import asyncio
import threading
from typing import Any

import httpx
import pytest
from strata_memory import AsyncStrataClient
from strata_memory.aegis import RedisManager, WorkingMemory
from strata_memory.errors import InvalidAnswer, StrataError, TooLarge

from sdk.tests.sockets import HEAD, keeping, serving


def client(status: int, told: Any, asked: list[httpx.Request] | None = None) -> AsyncStrataClient:
    """One whose server answers everything alike."""

    def answer(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        return httpx.Response(status, json=told)

    return AsyncStrataClient("http://strata", "key", transport=httpx.MockTransport(answer))


@pytest.mark.parametrize("value", [None, True, ["a"], {"a": 1}])
def test_a_value_that_redis_does_not_take_is_not_sent(value: Any) -> None:
    asked: list[httpx.Request] = []
    with pytest.raises(TypeError, match="text or a number"):
        asyncio.run(RedisManager(client(204, None, asked)).set("k", value))
    assert asked == []


@pytest.mark.parametrize("ex", [0, -1, float("nan")])
def test_a_key_that_would_not_live_is_not_set(ex: Any) -> None:
    asked: list[httpx.Request] = []
    with pytest.raises(ValueError, match="above zero"):
        asyncio.run(RedisManager(client(204, None, asked)).set("k", "v", ex=ex))
    assert asked == []


@pytest.mark.parametrize(
    "told",
    [
        "Working memory of 70000 bytes exceeds 65536 bytes; the fields were written all the same.",
        "The body exceeds 1048576 bytes.",
    ],
)
def test_too_much_is_a_value_error_whatever_was_too_much(told: str) -> None:
    memory = WorkingMemory(client(413, {"detail": told}))
    for asked in (memory.set("c", {"a": 1}), memory.set_scratchpad("c", "a"), memory.set_entities("c", [])):
        with pytest.raises(ValueError, match=told) as raised:
            asyncio.run(asked)
        assert isinstance(raised.value, TooLarge)
        assert (raised.value.status, raised.value.detail) == (413, told)
        assert type(raised.value.__cause__) is TooLarge


def test_another_refusal_is_no_value_error() -> None:
    with pytest.raises(StrataError) as raised:
        asyncio.run(WorkingMemory(client(422, {"detail": "No."})).set("c", {"a": 1}))
    assert not isinstance(raised.value, ValueError)


def test_bytes_that_are_no_text_are_not_sent() -> None:
    asked: list[httpx.Request] = []
    with pytest.raises(
        ValueError, match=r"The value of a key is text: these bytes are not UTF-8\."
    ) as raised:
        asyncio.run(RedisManager(client(204, None, asked)).set("k", b"\xff\x00"))
    assert type(raised.value) is ValueError
    assert asked == []


@pytest.mark.parametrize("told", [{}, {"x": 1}, {"injected": 3, "marked": 3, "claimed": 3, "evicted": 3}])
def test_the_ledger_is_not_taken_to_have_done_what_it_does_not_say(told: Any) -> None:
    manager = RedisManager(client(200, told))
    for asked in (manager.ledger_has, manager.ledger_mark, manager.ledger_claim, manager.ledger_evict):
        with pytest.raises(InvalidAnswer):
            asyncio.run(asked("c", "skill:x"))


def test_a_ledger_has_the_name_that_it_has_in_redis() -> None:
    assert RedisManager(client(200, {}))._ledger_key("c1") == "skill:ledger:c1"


class Noted(httpx.MockTransport):
    """Says whether it was closed."""

    closed = False

    async def aclose(self) -> None:
        self.closed = True


@pytest.mark.parametrize("helper", [WorkingMemory, RedisManager])
def test_a_helper_closes_the_client_that_it_made(helper: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    left = threading.Semaphore(0)

    async def scenario() -> None:
        async with helper() as made:
            assert await (made.ledger_get_all("c") if helper is RedisManager else made.get("c")) == {}
        assert await asyncio.to_thread(left.acquire, timeout=60)

    with serving(keeping(HEAD + b"Content-Length: 2\r\n\r\n{}", left)) as (url, _requests):
        monkeypatch.setenv("STRATA_URL", url)
        asyncio.run(scenario())


@pytest.mark.parametrize("helper", [WorkingMemory, RedisManager])
def test_a_helper_leaves_the_client_open_that_it_was_given(helper: Any) -> None:
    transport = Noted(lambda _request: httpx.Response(200, json={}))

    async def scenario() -> None:
        async with AsyncStrataClient("http://strata", "key", transport=transport) as given:
            async with helper(given) as one:
                assert await (one.ledger_get_all("c") if helper is RedisManager else one.get("c")) == {}
            assert not transport.closed
        assert transport.closed

    asyncio.run(scenario())
