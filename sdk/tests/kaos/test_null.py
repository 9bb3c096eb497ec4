"""A memory that keeps nothing, and says that all went well."""

import asyncio

from strata_memory.kaos import NullMemory


def test_everything_succeeds_and_nothing_is_kept() -> None:
    async def scenario() -> None:
        memory = NullMemory(5, max_events_per_session=1)
        assert await memory.create_session() == "null-session"
        assert await memory.create_session("agent", "ana", "s") == "s"
        assert await memory.get_or_create_session("s") == "s"
        assert await memory.add_event("s", None)
        assert await memory.add_event("s", "user_message", "Hello")
        assert await memory.get_session("s") is None
        assert await memory.get_session_events("s", ["error"]) == []
        assert await memory.build_conversation_context("s") == ""
        assert await memory.list_sessions("ana") == []
        assert await memory.delete_session("s")
        assert await memory.cleanup_old_sessions(0) == 0
        assert set((await memory.get_memory_stats()).values()) == {0}
        await memory.close()

    asyncio.run(scenario())


def test_its_events_have_ids_of_their_own_kind() -> None:
    event = NullMemory().create_event("user_message", "Hello")

    assert event.event_id.startswith("null_")
    assert (event.content, event.metadata) == ("Hello", {})
