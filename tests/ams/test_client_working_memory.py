"""The unmodified client against the running server: everything about working memory."""

from datetime import UTC, datetime

import pytest
from agent_memory_client import MemoryAPIClient
from agent_memory_client.exceptions import MemoryNotFoundError, MemoryServerError
from agent_memory_client.models import (
    ClientMemoryRecord,
    MemoryMessage,
    MemoryStrategyConfig,
    WorkingMemory,
)

pytestmark = pytest.mark.filterwarnings("ignore:get_working_memory is deprecated:DeprecationWarning")
NOW = datetime.now(UTC)


def said(*texts: str) -> list[MemoryMessage]:
    roles = ("user", "assistant")
    return [
        MemoryMessage(id=f"m{place}", role=roles[place % 2], content=text, created_at=NOW)
        for place, text in enumerate(texts)
    ]


def test_health_check(ask):
    assert ask(lambda client: client.health_check()).now > 1_000_000_000_000


def test_put_and_get_working_memory(ask):
    memory = WorkingMemory(
        session_id="s",
        user_id="ana",
        namespace="shop",
        messages=said("hello", "hi"),
        memories=[ClientMemoryRecord(id="r1", text="Ana likes tea", topics=["tea, green"])],
        data={"step": 1, "trip": {"to": "Paris"}},
        context="They met before.",
        tokens=12,
        ttl_seconds=600,
        long_term_memory_strategy=MemoryStrategyConfig(strategy="summary", config={"max_summary_length": 9}),
    )
    written = ask(lambda client: client.put_working_memory("s", memory, user_id="ana"))
    read = ask(lambda client: client.get_working_memory("s", user_id="ana", namespace="shop"))
    for found in (written, read):
        assert [(one.id, one.role, one.content) for one in found.messages] == [
            ("m0", "user", "hello"),
            ("m1", "assistant", "hi"),
        ]
        assert [one.created_at for one in found.messages] == [NOW, NOW]
        assert [(one.id, one.text, one.topics) for one in found.memories] == [
            ("r1", "Ana likes tea", ["tea, green"])
        ]
        assert found.data == {"step": 1, "trip": {"to": "Paris"}}
        assert (found.context, found.user_id, found.namespace) == ("They met before.", "ana", "shop")
        assert (found.tokens, found.ttl_seconds, found.session_id) == (12, 600, "s")
        assert found.long_term_memory_strategy.strategy == "summary"
        assert found.long_term_memory_strategy.config == {"max_summary_length": 9}
        assert found.context_percentage_total_used is None


def test_get_working_memory_of_a_session_that_there_is_not(ask):
    with pytest.raises(MemoryNotFoundError):
        ask(lambda client: client.get_working_memory("nowhere"))


def test_get_or_create_working_memory(ask):
    created, memory = ask(lambda client: client.get_or_create_working_memory("s", user_id="ana"))
    assert (created, memory.session_id, memory.user_id, memory.messages) == (True, "s", "ana", [])
    created, again = ask(lambda client: client.get_or_create_working_memory("s", user_id="ana"))
    assert (created, again.session_id) == (False, "s")


def test_list_sessions(ask):
    for number in range(3):
        memory = WorkingMemory(session_id=f"s{number}", user_id="ana", messages=said("hello"))
        ask(lambda client, memory=memory: client.put_working_memory(memory.session_id, memory))
    ask(lambda client: client.put_working_memory("other", WorkingMemory(session_id="other", namespace="x")))
    found = ask(lambda client: client.list_sessions(limit=2, offset=1, user_id="ana"))
    assert (found.sessions, found.total) == (["s1", "s0"], 3)
    assert ask(lambda client: client.list_sessions(), default_namespace="x").sessions == ["other"]


def test_delete_working_memory(ask):
    ask(lambda client: client.put_working_memory("s", WorkingMemory(session_id="s", messages=said("hello"))))
    for _time in range(2):
        assert ask(lambda client: client.delete_working_memory("s")).status == "ok"
    with pytest.raises(MemoryNotFoundError):
        ask(lambda client: client.get_working_memory("s"))


def test_set_working_memory_data(ask):
    ask(lambda client: client.put_working_memory("s", WorkingMemory(session_id="s", messages=said("hello"))))
    done = ask(lambda client: client.set_working_memory_data("s", {"a": {"b": 1}}))
    assert done.data == {"a": {"b": 1}}
    assert [one.content for one in done.messages] == ["hello"]


def test_update_working_memory_data(ask):
    async def twice(client: MemoryAPIClient) -> dict[str, object]:
        await client.update_working_memory_data("s", {"a": {"b": 1}, "c": 2})
        done = await client.update_working_memory_data("s", {"a": {"d": 3}}, merge_strategy="deep_merge")
        return done.data

    assert ask(twice) == {"a": {"b": 1, "d": 3}, "c": 2}


def test_add_memories_to_working_memory(ask):
    first = [ClientMemoryRecord(id="r1", text="Ana likes tea", memory_type="semantic")]
    second = [ClientMemoryRecord(id="r2", text="Ana was in Rome", memory_type="episodic")]
    ask(lambda client: client.add_memories_to_working_memory("s", first))
    done = ask(lambda client: client.add_memories_to_working_memory("s", second))
    assert [(one.id, one.memory_type) for one in done.memories] == [("r1", "semantic"), ("r2", "episodic")]


def test_append_messages_to_working_memory(ask):
    ask(lambda client: client.put_working_memory("s", WorkingMemory(session_id="s", messages=said("hello"))))
    new = [{"role": "assistant", "content": "hi"}, {"role": "user", "content": "bye", "id": "m9"}]
    done = ask(lambda client: client.append_messages_to_working_memory("s", new))
    assert [one.content for one in done.messages] == ["hello", "hi", "bye"]
    assert done.messages[2].id == "m9"


def test_a_window_of_tokens(ask):
    memory = WorkingMemory(session_id="s", messages=said("hello there"))
    done = ask(lambda client: client.put_working_memory("s", memory, context_window_max=100))
    assert 0 < done.context_percentage_total_used < done.context_percentage_until_summarization <= 100
    read = ask(lambda client: client.get_working_memory("s"), default_context_window_max=100)
    assert read.context_percentage_total_used == done.context_percentage_total_used


def test_the_tools_for_language_models(ask):
    added = ask(lambda client: client.add_memory_tool("s", "Ana likes tea", "semantic", topics=["tea"]))
    assert added["success"], added
    updated = ask(lambda client: client.update_memory_data_tool("s", {"step": 2}))
    assert updated["success"], updated
    shown = ask(lambda client: client.get_working_memory_tool("s"))
    assert (shown["memory_count"], shown["data"]) == (1, {"step": 2})
    found = ask(lambda client: client.get_or_create_working_memory_tool("s"))
    assert (found["created"], found["memory_count"]) == (False, 1)


def test_a_wrong_message_is_told_by_the_server(ask):
    memory = WorkingMemory(session_id="s", messages=[MemoryMessage(role="user", content="", id="m1")])
    with pytest.raises(MemoryServerError, match=r"Message content cannot be empty \(message ID: m1\)"):
        ask(lambda client: client.put_working_memory("s", memory))
