"""The client that this protocol is known by, as its users run it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from agent_memory_client import MemoryAPIClient, create_memory_client
from django.test import Client

from tests.ams.asking import message
from tests.conftest import Member, make_member
from tests.faults.conftest import deployment

__all__ = ["deployment"]

T = TypeVar("T")
Ask = Callable[..., Any]


def ask_as(member: Member, asks: Callable[[MemoryAPIClient], Awaitable[T]], **config: Any) -> T:
    """What the unmodified client answers with the member's key in its headers: it has no option for one."""

    async def ask() -> T:
        client = await create_memory_client(base_url=str(member.http.base_url), **config)
        client._client.headers["Authorization"] = f"Bearer {member.key}"
        async with client:
            return await asks(client)

    return asyncio.run(ask())


@pytest.fixture
def ask(acme: Member) -> Ask:
    return lambda asks, **config: ask_as(acme, asks, **config)


@pytest.fixture(scope="module")
def shared(server: str) -> Member:
    """A tenant for tests that only read, or that keep to users of their own."""
    return make_member("acme", server)


@pytest.fixture
def browser(acme: Member) -> Client:
    """Requests to this process, whose settings a test may change."""
    return Client(headers={"Authorization": f"Bearer {acme.key}"})


@pytest.fixture
def put_here(browser: Client) -> Ask:
    """Sends messages in a session to this process; what it answers. `window`: how many tokens it has."""

    def put(*texts: str, session: str = "s", window: int | None = None, **more: Any) -> dict[str, Any]:
        body = {"messages": [message(text.split()[0], content=text) for text in texts], **more}
        query = "" if window is None else f"?context_window_max={window}"
        path = f"/v1/working-memory/{session}{query}"
        answer = browser.put(path, body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()
        return found

    return put
