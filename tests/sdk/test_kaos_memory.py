"""A KAOS agent's memory on the server does what one in its process does, and outlives it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
from strata_memory.errors import Unauthenticated
from strata_memory.kaos import LocalMemory, Memory, RemoteMemory

from tests.conftest import Member

Made = Callable[[], Memory]
Scenario = Callable[[Memory], Coroutine[Any, Any, Any]]


def remote(member: Member, agent_name: str | None = "planner", **options: Any) -> RemoteMemory:
    return RemoteMemory(str(member.http.base_url), member.key, agent_name, **options)


@pytest.fixture(params=["local", "remote"])
def made(request: pytest.FixtureRequest) -> Made:
    if request.param == "local":
        return LocalMemory
    acme: Member = request.getfixturevalue("acme")
    return lambda: remote(acme)


def run(made: Made, scenario: Scenario) -> Any:
    async def whole() -> Any:
        memory = made()
        try:
            return await scenario(memory)
        finally:
            await memory.close()

    return asyncio.run(whole())


def test_events_come_back_as_they_were_added(made: Made) -> None:
    contents = [
        "Hello\n“there” 🙂",
        {"tool": "calc", "arguments": {"a": [1, None, 2.5]}},
        None,
        7,
        ["x"],
        True,
    ]

    async def scenario(memory: Memory) -> None:
        session = await memory.create_session("planner", "ana")
        added = [memory.create_event("tool_result", one, {"n": n}) for n, one in enumerate(contents)]
        for event in added:
            assert await memory.add_event(session, event)
        assert await memory.get_session_events(session) == added

    run(made, scenario)


def test_a_session_tells_whose_it_is_and_what_it_has(made: Made) -> None:
    async def scenario(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "a/b c.d")
        await memory.add_event("a/b c.d", "user_message", "Hello")

        session = await memory.get_session("a/b c.d")
        assert session is not None
        assert (session.session_id, session.user_id, session.app_name) == ("a/b c.d", "ana", "planner")
        assert [one.content for one in session.events] == ["Hello"]
        assert session.created_at <= session.updated_at
        assert session.to_dict()["events"][0]["event_type"] == "user_message"

    run(made, scenario)


def test_a_session_that_is_begun_again_is_empty(made: Made) -> None:
    async def scenario(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        await memory.add_event("s", "user_message", "Hello")
        assert await memory.get_or_create_session("s", "planner", "ana") == "s"
        assert len(await memory.get_session_events("s")) == 1
        await memory.create_session("planner", "ana", "s")
        assert await memory.get_session_events("s") == []
        await memory.add_event("s", "user_message", "Again")
        assert [one.content for one in await memory.get_session_events("s")] == ["Again"]

    run(made, scenario)


def test_events_are_filtered_by_type(made: Made) -> None:
    async def scenario(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        for event_type in ("user_message", "tool_call", "error", "agent_response"):
            await memory.add_event("s", event_type, event_type)
        found = await memory.get_session_events("s", ["error", "tool_call"])
        assert [one.content for one in found] == ["tool_call", "error"]
        assert len(await memory.get_session_events("s", [])) == 4
        assert await memory.build_conversation_context("s") == "User: user_message\nAssistant: agent_response"

    run(made, scenario)


def test_what_is_unknown_is_told_so_and_not_made(made: Made) -> None:
    async def scenario(memory: Memory) -> None:
        assert await memory.add_event("nobody", "user_message", "Hello") is False
        assert await memory.get_session("nobody") is None
        assert await memory.get_session_events("nobody") == []
        assert await memory.delete_session("nobody") is False
        assert await memory.list_sessions() == []

    run(made, scenario)


def test_sessions_are_listed_counted_and_deleted(made: Made) -> None:
    async def scenario(memory: Memory) -> None:
        for session, user in (("one", "ana"), ("two", "bob"), ("three", "ana")):
            await memory.create_session("planner", user, session)
            await memory.add_event(session, "user_message", "Hello")
        await memory.add_event("two", "agent_response", "Hi")

        assert await memory.list_sessions() == ["one", "two", "three"]
        assert await memory.list_sessions("ana") == ["one", "three"]
        assert await memory.get_memory_stats() == {
            "total_sessions": 3,
            "total_events": 4,
            "avg_events_per_session": 1,
        }
        assert await memory.cleanup_old_sessions() == 0
        assert await memory.delete_session("two")
        assert await memory.cleanup_old_sessions(0) == 2
        assert await memory.list_sessions() == []

    run(made, scenario)


def test_another_process_of_the_agent_goes_on_where_one_stopped(acme: Member) -> None:
    async def first(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        await memory.add_event("s", "user_message", "Hello")

    async def second(memory: Memory) -> str:
        await memory.add_event("s", "agent_response", "Hi")
        return await memory.build_conversation_context("s")

    run(lambda: remote(acme), first)
    assert run(lambda: remote(acme), second) == "User: Hello\nAssistant: Hi"


def test_one_memory_serves_several_event_loops(acme: Member) -> None:
    memory = remote(acme)
    asyncio.run(memory.create_session("planner", "ana", "s"))
    assert asyncio.run(memory.add_event("s", "user_message", "Hello"))
    assert asyncio.run(memory.list_sessions()) == ["s"]


def test_agents_do_not_see_each_others_sessions(acme: Member) -> None:
    async def begin(memory: Memory) -> None:
        await memory.create_session("app", "ana", "s")

    async def sessions(memory: Memory) -> list[str]:
        return await memory.list_sessions()

    name = "plänner 50%25\n"
    run(lambda: remote(acme, name), begin)
    assert run(lambda: remote(acme, name), sessions) == ["s"]
    assert run(lambda: remote(acme, "plnner 50%25"), sessions) == []
    assert run(lambda: remote(acme, "worker"), sessions) == []
    assert acme.http.get("/api/v1/sessions", params={"agent_id": name}).json()["results"]


def test_globex_does_not_see_acmes_sessions(acme: Member, globex: Member) -> None:
    async def begin(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        await memory.add_event("s", "user_message", "Hello")

    async def look(memory: Memory) -> tuple[Any, ...]:
        return (
            await memory.list_sessions(),
            await memory.get_session("s"),
            await memory.get_session_events("s"),
        )

    run(lambda: remote(acme), begin)
    assert run(lambda: remote(globex), look) == ([], None, [])


def test_fewer_events_may_be_shown_than_the_server_has(acme: Member) -> None:
    async def scenario(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        for number in range(4):
            await memory.add_event("s", "user_message", number)
        session = await memory.get_session("s")
        assert session is not None
        assert [one.content for one in session.events] == [2, 3]
        assert [one.content for one in await memory.get_session_events("s")] == [2, 3]

    run(lambda: remote(acme, max_events_per_session=2), scenario)


def test_the_agents_limits_are_the_servers(acme: Member) -> None:
    declared = {"kaos": {"maxSessions": 2, "maxSessionEvents": 3}}
    admin = acme.with_key(scopes=["read", "write", "admin"])
    admin.http.put("/api/v1/agents/planner", json=declared).raise_for_status()

    async def scenario(memory: Memory) -> None:
        for session in ("one", "two", "three"):
            await memory.create_session("planner", "ana", session)
        for number in range(5):
            await memory.add_event("three", "user_message", number)
        assert await memory.list_sessions() == ["two", "three"]
        assert [one.content for one in await memory.get_session_events("three")] == [2, 3, 4]

    run(lambda: remote(acme), scenario)


class Losing(httpx.AsyncHTTPTransport):
    """Does the first request, and loses its answer."""

    has_lost = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if not self.has_lost:
            self.has_lost = True
            raise httpx.ReadError("lost", request=request)
        return answer


def test_a_session_whose_first_answer_is_lost_is_created_once(acme: Member) -> None:
    admin = acme.with_key(scopes=["read", "write", "admin"])
    admin.http.put("/api/v1/agents/planner", json={"kaos": {"maxSessions": 2}}).raise_for_status()
    losing = Losing()

    async def scenario(memory: Memory) -> None:
        for session in ("one", "two"):
            await memory.create_session("planner", "ana", session)
        losing.has_lost = False
        assert await memory.create_session("planner", "ana", "three") == "three"
        assert await memory.list_sessions() == ["two", "three"]

    losing.has_lost = True
    run(lambda: remote(acme, transport=losing), scenario)


def test_what_an_agent_tells_is_in_the_sessions_log(acme: Member) -> None:
    async def scenario(memory: Memory) -> None:
        await memory.create_session("planner", "ana", "s")
        await memory.add_event("s", "user_message", "Hello", {"source": "chat"})

    run(lambda: remote(acme), scenario)

    log = acme.http.get("/api/v1/sessions/s/events", params={"user_id": "ana"}).json()["results"]
    assert [(one["role"], one["content"], one["metadata"]) for one in log] == [
        ("user", "Hello", {"source": "chat"})
    ]


def test_a_wrong_key_is_an_error(acme: Member) -> None:
    memory = RemoteMemory(str(acme.http.base_url), "mem_1_wrong", on_error="drop")
    with pytest.raises(Unauthenticated):
        asyncio.run(memory.list_sessions())
