"""Both clients asked in the same way."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, closing
from typing import Any

import pytest
from strata_memory import AsyncStrataClient, StrataClient
from strata_memory.errors import DeadlineExceeded
from strata_memory.streaming import LiveEvent

KEY = "sk-0123456789abcdef-very-secret"


def blocking(work: Callable[[Any], Any], url: str, key: str | None = KEY, **options: Any) -> Any:
    """What `work` makes of a client that waits."""
    with StrataClient(url, key, **options) as client:
        return work(client)


def asynchronous(
    work: Callable[[Any], Awaitable[Any]], url: str, key: str | None = KEY, **options: Any
) -> Any:
    """What it makes of one that is awaited."""

    async def run() -> Any:
        async with AsyncStrataClient(url, key, **options) as client:
            return await work(client)

    return asyncio.run(run())


BOTH = [blocking, asynchronous]
Enough = Callable[[list[LiveEvent]], bool]  # asked after each event, with all that came


def listening(
    url: str, enough: Enough, *, key: str = KEY, timeout: float = 600, **query: Any
) -> list[LiveEvent]:
    """The events that a client which waits is told."""

    def work(client: StrataClient) -> list[LiveEvent]:
        found: list[LiveEvent] = []
        with closing(client.stream(**query)) as stream:
            for event in stream:
                found.append(event)
                if enough(found):
                    break
        return found

    events: list[LiveEvent] = blocking(work, url, key, timeout=timeout)
    return events


def listening_asynchronously(
    url: str, enough: Enough, *, key: str = KEY, timeout: float = 600, **query: Any
) -> list[LiveEvent]:
    """Those that one which is awaited is told."""

    async def work(client: AsyncStrataClient) -> list[LiveEvent]:
        found: list[LiveEvent] = []
        async with aclosing(client.stream(**query)) as stream:
            async for event in stream:
                found.append(event)
                if enough(found):
                    break
        return found

    events: list[LiveEvent] = asynchronous(work, url, key, timeout=timeout)
    return events


LISTENING = [listening, listening_asynchronously]


def left_at_its_deadline(asked: Callable[..., Any], work: Callable[[Any], Any], url: str) -> DeadlineExceeded:
    """What a call raises whose request has arrived and is never answered. On a machine so busy that not even
    the connection was made in time, it is made with more of it. No machine is a minute late."""
    for timeout in (0.3, 3, 30, 300):
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded) as raised:
            asked(work, url, timeout=timeout)
        assert time.monotonic() - began < timeout + 60
        if raised.value.reached_server:
            break
    return raised.value
