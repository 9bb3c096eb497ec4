"""A memory in the process: its limits, and what it lets go of."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from strata_memory.kaos import InMemorySessionService, LocalMemory, MemoryEvent

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


async def _filled(memory: LocalMemory, count: int) -> list[str]:
    return [await memory.create_session("agent", "ana", f"s{number}") for number in range(count)]


def test_a_session_without_an_id_gets_one() -> None:
    made = run(LocalMemory().create_session("agent", "ana"))

    assert made.startswith("session_")
    assert len(made) == len("session_") + 12


def test_an_existing_id_is_replaced_by_an_empty_session_in_its_place() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        await _filled(memory, 3)
        await memory.add_event("s1", "user_message", "Hello")

        await memory.create_session("other", "bob", "s1")

        session = await memory.get_session("s1")
        assert session is not None
        assert (session.app_name, session.user_id, list(session.events)) == ("other", "bob", [])
        assert await memory.list_sessions() == ["s0", "s1", "s2"]

    run(scenario())


def test_get_or_create_keeps_what_is_there() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        assert await memory.get_or_create_session("s") == "s"
        await memory.add_event("s", "user_message", "Hello")
        assert await memory.get_or_create_session("s", "other", "bob") == "s"

        session = await memory.get_session("s")
        assert session is not None
        assert (session.app_name, session.user_id, len(session.events)) == ("agent", "user", 1)

    run(scenario())


def test_the_oldest_events_make_room_for_new_ones() -> None:
    async def scenario() -> list[Any]:
        memory = LocalMemory(max_events_per_session=3)
        await _filled(memory, 1)
        for number in range(5):
            await memory.add_event("s0", "user_message", number)
        return [one.content for one in await memory.get_session_events("s0")]

    assert run(scenario()) == [2, 3, 4]


def test_one_session_too_many_lets_go_of_the_tenth_that_was_updated_longest_ago() -> None:
    async def scenario() -> list[str]:
        memory = LocalMemory(max_sessions=20)
        await _filled(memory, 20)
        await memory.add_event("s0", "user_message", "still in use")
        await memory.create_session("agent", "ana", "new")
        return await memory.list_sessions()

    assert run(scenario()) == ["s0", *(f"s{number}" for number in range(3, 20)), "new"]


def test_an_update_that_is_told_from_outside_counts() -> None:
    async def scenario() -> list[str]:
        memory = LocalMemory(max_sessions=3)
        await _filled(memory, 3)
        session = await memory.get_session("s2")
        assert session is not None
        session.updated_at -= timedelta(hours=1)
        await memory.create_session("agent", "ana", "new")
        return await memory.list_sessions()

    assert run(scenario()) == ["s0", "s1", "new"]


def test_beginning_a_known_session_anew_makes_room_as_well() -> None:
    async def scenario() -> list[str]:
        memory = LocalMemory(max_sessions=3)
        await _filled(memory, 3)
        await memory.create_session("agent", "ana", "s2")
        return await memory.list_sessions()

    assert run(scenario()) == ["s1", "s2"]


@pytest.mark.parametrize("types", [None, []])
def test_no_event_type_means_all(types: list[str] | None) -> None:
    async def scenario() -> int:
        memory = LocalMemory()
        await _filled(memory, 1)
        await memory.add_event("s0", "tool_call", {})
        await memory.add_event("s0", "error", "no")
        return len(await memory.get_session_events("s0", types))

    assert run(scenario()) == 2


def test_events_are_added_as_objects_by_name_or_by_type() -> None:
    async def scenario() -> list[tuple[str, Any, dict[str, Any]]]:
        memory = LocalMemory()
        await _filled(memory, 1)
        assert await memory.add_event("s0", memory.create_event("user_message", "positional"))
        assert await memory.add_event("s0", event=memory.create_event("user_message", "named"))
        assert await memory.add_event("s0", "tool_call", {"tool": "calc"}, {"step": 1})
        events = await memory.get_session_events("s0")
        return [(one.event_type, one.content, one.metadata) for one in events]

    assert run(scenario()) == [
        ("user_message", "positional", {}),
        ("user_message", "named", {}),
        ("tool_call", {"tool": "calc"}, {"step": 1}),
    ]


def test_no_event_at_all_is_an_error_in_a_session_and_nothing_without_one() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        assert await memory.add_event("s0", None) is False
        await _filled(memory, 1)
        with pytest.raises(TypeError, match="event type"):
            await memory.add_event("s0", None)

    run(scenario())


def test_an_unknown_session_takes_no_event_and_has_none() -> None:
    async def scenario() -> tuple[Any, ...]:
        memory = LocalMemory()
        added = await memory.add_event("nobody", "user_message", "Hello")
        return added, await memory.get_session_events("nobody"), await memory.delete_session("nobody")

    assert run(scenario()) == (False, [], False)


def test_sessions_are_listed_by_user_and_counted() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        assert await memory.get_memory_stats() == {
            "total_sessions": 0,
            "total_events": 0,
            "avg_events_per_session": 0,
        }
        await _filled(memory, 2)
        await memory.create_session("agent", "bob", "b")
        for session in ("s0", "s0", "s1", "b", "b"):
            await memory.add_event(session, "user_message", "Hello")

        assert await memory.list_sessions("bob") == ["b"]
        assert await memory.get_memory_stats() == {
            "total_sessions": 3,
            "total_events": 5,
            "avg_events_per_session": 1,
        }

    run(scenario())


def test_cleaning_up_takes_what_is_strictly_older() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        await _filled(memory, 2)
        session = await memory.get_session("s0")
        assert session is not None
        session.updated_at -= timedelta(hours=25)
        assert await memory.cleanup_old_sessions() == 1
        assert await memory.list_sessions() == ["s1"]
        assert await memory.delete_session("s1")

    run(scenario())


def test_the_context_is_the_last_of_what_was_said() -> None:
    async def scenario() -> tuple[str, str]:
        memory = LocalMemory()
        await _filled(memory, 1)
        assert await memory.build_conversation_context("s0") == ""
        await memory.add_event("s0", "user_message", "One")
        await memory.add_event("s0", "agent_response", "Two")
        await memory.add_event("s0", "tool_call", {"tool": "calc"})
        await memory.add_event("s0", "user_message", "Three")
        return (
            await memory.build_conversation_context("s0"),
            await memory.build_conversation_context("s0", max_events=2),
        )

    assert run(scenario()) == ("User: One\nAssistant: Two\nUser: Three", "Assistant: Two\nUser: Three")


def test_instances_know_nothing_of_each_other() -> None:
    async def scenario() -> list[str]:
        one, other = LocalMemory(), InMemorySessionService()
        await _filled(one, 1)
        return await other.list_sessions()

    assert run(scenario()) == []


def test_events_and_sessions_become_dictionaries_and_events_come_back() -> None:
    async def scenario() -> None:
        memory = LocalMemory()
        await _filled(memory, 1)
        event = memory.create_event("tool_result", {"tool": "calc", "result": 4}, {"a": 1})
        await memory.add_event("s0", event)
        session = await memory.get_session("s0")
        assert session is not None

        told = event.to_dict()
        assert list(told) == ["event_id", "timestamp", "event_type", "content", "metadata"]
        assert told["timestamp"].endswith("+00:00")
        assert MemoryEvent.from_dict(told) == event
        assert session.to_dict() == {
            "session_id": "s0",
            "user_id": "ana",
            "app_name": "agent",
            "events": [told],
            "created_at": session.created_at.isoformat(),
            "updated_at": session.updated_at.isoformat(),
        }
        with pytest.raises(KeyError):
            MemoryEvent.from_dict({name: told[name] for name in told if name != "metadata"})

    run(scenario())


def test_the_metadata_of_an_event_are_its_own() -> None:
    given = {"a": 1}
    event = LocalMemory().create_event("user_message", "Hello", given)
    given["a"] = 2

    assert event.metadata == {"a": 1}
    assert len(event.event_id) == len("event_") + 8
