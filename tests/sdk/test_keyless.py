"""Clients without a key, on a server that takes its neighbours for a tenant, and on one that does not."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from strata_memory import AsyncStrataClient, StrataClient
from strata_memory.aegis import WorkingMemory
from strata_memory.errors import Unauthenticated
from strata_memory.kaos import RemoteMemory

from tests.conftest import Member, make_member
from tests.plugin import HOME
from tests.processes import Web
from tests.sdk.command_line import strata, surroundings


@pytest.fixture(scope="module")
def demo(server: str) -> Member:
    """The tenant of callers without a key."""
    return make_member("demo", server)


@pytest.fixture(scope="module")
def door(demo: Member) -> Iterator[str]:
    web = Web({**os.environ, "MEMORY_ANONYMOUS_TENANT": demo.tenant.slug}, log=HOME / "web.log")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STRATA_API_KEY", raising=False)


def test_every_client_works_without_a_key_where_the_server_takes_that(
    door: str, demo: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATA_URL", door)

    async def awaited() -> None:
        async with AsyncStrataClient(door) as client:
            await client.sessions.append_event("awaited", event_type="note", content=1)
        async with AsyncStrataClient.from_env() as client:
            await WorkingMemory(client).set("aegis", {"a": 1})
        memory = RemoteMemory(door, agent_name="planner")
        await memory.create_session("planner", "ana", "kaos")
        await memory.close()

    with StrataClient.from_env() as client:
        client.sessions.append_event("blocking", event_type="note", content=1)
        assert next(iter(client.stream(after="0"))).session_id == "blocking"
    asyncio.run(awaited())
    assert demo.http.get("/working-memory/aegis").json() == {"a": 1}
    there = {one["session_id"] for one in demo.http.get("/api/v1/sessions").json()["results"]}
    assert there >= {"blocking", "awaited", "kaos"}


def test_the_command_line_works_without_a_key_where_the_server_takes_that(door: str, demo: Member) -> None:
    turn = {"user_id": "ana", "turns": [{"role": "user", "content": "Without a key."}]}
    demo.http.post("/api/v1/sessions/open/turns", json=turn).raise_for_status()
    for url in (door, door.replace("127.0.0.1", "localhost")):
        done = strata(None, "--url", url, "sessions", "open", "--user", "ana", env=surroundings())
        assert done.status == 0, done
        assert "Without a key." in done.out


def test_a_server_that_asks_for_a_key_is_told_to_have_been_given_none(server: str) -> None:
    with pytest.raises(Unauthenticated, match="The client was given no API key"):
        StrataClient(server).sessions.list()
    with pytest.raises(Unauthenticated, match="The client was given no API key"):
        next(iter(StrataClient(server).stream()))
    with pytest.raises(Unauthenticated, match="The client was given no API key"):
        asyncio.run(RemoteMemory(server, on_error="drop").list_sessions())
