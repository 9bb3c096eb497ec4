"""The unmodified client against the running server: long-term records and prompts."""

import inspect
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from agent_memory_client import MemoryAPIClient
from agent_memory_client.exceptions import MemoryNotFoundError
from agent_memory_client.filters import Namespace, Topics, UserId
from agent_memory_client.models import (
    ClientMemoryRecord,
    ForgetPolicy,
    MemoryMessage,
    RecencyConfig,
    WorkingMemory,
)


def record(identity: str, text: str, **more: object) -> ClientMemoryRecord:
    return ClientMemoryRecord(id=identity, text=text, **({"memory_type": "semantic"} | more))


RECORDS = [
    record("tea", "Ana likes green tea in the morning", user_id="ana", topics=["drinks", "tea"]),
    record("bike", "Ana rides her bicycle to work", user_id="ana", topics=["travel"], entities=["bicycle"]),
    record("invoice", "The invoice of March was paid late", user_id="bob", namespace="office"),
]


@pytest.fixture
def filled(ask):
    assert ask(lambda client: client.create_long_term_memory(RECORDS)).status == "ok"
    return ask


def test_create_and_get_long_term_memory(filled):
    found = filled(lambda client: client.get_long_term_memory("tea"))
    assert (found.text, found.user_id, found.topics) == (
        "Ana likes green tea in the morning",
        "ana",
        ["drinks", "tea"],
    )
    assert (found.memory_type, found.namespace, found.discrete_memory_extracted) == ("semantic", None, "f")
    assert found.created_at == RECORDS[0].created_at
    assert found.persisted_at is not None
    assert len(found.memory_hash) == 64


def test_get_long_term_memory_that_there_is_not(ask):
    with pytest.raises(MemoryNotFoundError):
        ask(lambda client: client.get_long_term_memory("nothing"))


def test_search_long_term_memory(filled):
    found = filled(lambda client: client.search_long_term_memory("what does she drink?", limit=2))
    assert found.memories[0].id == "tea"
    assert 0 <= found.memories[0].dist < found.memories[1].dist
    assert (len(found.memories), found.total, found.next_offset) == (2, 3, 2)


def test_search_long_term_memory_by_filters(filled):
    async def ids(client: MemoryAPIClient, **filters: object) -> list[str]:
        found = await client.search_long_term_memory("anything", **filters)
        return sorted(one.id for one in found.memories)

    assert filled(lambda client: ids(client, user_id=UserId(eq="ana"))) == ["bike", "tea"]
    assert filled(lambda client: ids(client, namespace=Namespace(in_=["office", "x"]))) == ["invoice"]
    assert filled(lambda client: ids(client, topics=Topics(none=["tea"]), user_id={"eq": "ana"})) == ["bike"]
    assert filled(lambda client: ids(client, entities={"any": ["bicycle"]})) == ["bike"]
    assert filled(ids, default_namespace="office") == ["invoice"]
    recent = RecencyConfig(recency_boost=False, semantic_weight=1.0)
    assert filled(lambda client: ids(client, recency=recent)) == ["bike", "invoice", "tea"]


def test_search_all_long_term_memories(filled):
    async def every(client: MemoryAPIClient) -> list[str]:
        return [one.id async for one in client.search_all_long_term_memories("anything", batch_size=2)]

    assert sorted(filled(every)) == ["bike", "invoice", "tea"]


def test_search_memory_tool(filled):
    found = filled(
        lambda client: client.search_memory_tool(
            "green tea", topics=["tea"], min_relevance=0.1, user_id="ana"
        )
    )
    assert [one["id"] for one in found["memories"]] == ["tea"]
    assert (found["total_found"], found["has_more"]) == (1, False)


def test_edit_long_term_memory(filled):
    done = filled(lambda client: client.edit_long_term_memory("tea", {"text": "Ana likes black tea"}))
    assert (done.id, done.text, done.topics) == ("tea", "Ana likes black tea", ["drinks", "tea"])
    assert filled(lambda client: client.get_long_term_memory("tea")).text == "Ana likes black tea"


def test_delete_long_term_memories(filled):
    done = filled(lambda client: client.delete_long_term_memories(["tea", "bike", "nothing"]))
    assert done.status == "ok, deleted 2 memories"
    with pytest.raises(MemoryNotFoundError):
        filled(lambda client: client.get_long_term_memory("tea"))


def test_forget_long_term_memories(filled):
    policy = ForgetPolicy(budget=0)
    told = filled(lambda client: client.forget_long_term_memories(policy, user_id="ana", dry_run=True))
    assert (sorted(told.deleted_ids), told.scanned, told.dry_run) == (["bike", "tea"], 2, True)
    done = filled(lambda client: client.forget_long_term_memories(policy, user_id="ana", pinned_ids=["tea"]))
    assert (done.deleted_ids, done.deleted, done.dry_run) == (["bike"], 1, False)
    assert filled(lambda client: client.get_long_term_memory("tea")).id == "tea"


def test_bulk_create_long_term_memories(ask):
    batches = [RECORDS[:2], RECORDS[2:]]
    done = ask(
        lambda client: client.bulk_create_long_term_memories(batches, batch_size=1, delay_between_batches=0)
    )
    assert [one.status for one in done] == ["ok"] * 3


def test_promote_working_memories_to_long_term(ask):
    memory = WorkingMemory(session_id="s", memories=[record("tea", "Ana likes green tea")])
    ask(lambda client: client.put_working_memory("s", memory))
    done = ask(lambda client: client.promote_working_memories_to_long_term("s", ["tea"]))
    assert done.status == "ok"
    assert ask(lambda client: client.get_long_term_memory("tea")).text == "Ana likes green tea"


CALLS = {
    "search_memory": {"query": "green tea"},
    "get_or_create_working_memory": {},
    "lazily_create_long_term_memory": {"text": "Ana has a cat", "memory_type": "semantic"},
    "eagerly_create_long_term_memory": {"memories": [{"text": "Ana has a dog", "memory_type": "semantic"}]},
    "update_working_memory_data": {"data": {"a": 1}},
    "get_long_term_memory": {"memory_id": "tea"},
    "edit_long_term_memory": {"memory_id": "tea", "text": "Ana likes tea"},
    "delete_long_term_memories": {"memory_ids": ["tea"]},
}


@pytest.mark.parametrize("name", CALLS)
def test_resolve_function_call(filled, name):
    done = filled(lambda client: client.resolve_function_call(name, CALLS[name], session_id="s"))
    assert done["success"], done


def test_resolve_function_calls_and_tool_calls(filled):
    calls = [{"name": name, "arguments": CALLS[name]} for name in ("search_memory", "get_long_term_memory")]
    done = filled(lambda client: client.resolve_function_calls(calls, session_id="s"))
    assert [one["success"] for one in done] == [True, True]
    tool = {
        "id": "1",
        "type": "function",
        "function": {"name": "search_memory", "arguments": json.dumps(CALLS["search_memory"])},
    }
    assert filled(lambda client: client.resolve_tool_call(tool, session_id="s"))["success"]
    (one,) = filled(lambda client: client.resolve_tool_calls([tool], session_id="s"))
    assert one["success"]


def test_memory_prompt(filled):
    messages = [MemoryMessage(id="m1", role="user", content="Good morning", created_at=datetime.now(UTC))]
    memory = WorkingMemory(session_id="s", user_id="ana", context="They met before.", messages=messages)
    filled(lambda client: client.put_working_memory("s", memory))
    done = filled(
        lambda client: client.memory_prompt(
            "What do I drink?", session_id="s", user_id="ana", long_term_search={"limit": 1},
            context_window_max=4_000,
        )
    )  # fmt: skip
    told = [(one["role"], one["content"]["text"]) for one in done["messages"]]
    assert told == [
        ("system", "## A summary of the conversation so far:\nThey met before."),
        ("user", "Good morning"),
        (
            "system",
            "## Long term memories related to the user's query\n"
            " - Ana likes green tea in the morning (ID: tea)",
        ),
        ("user", "What do I drink?"),
    ]
    assert done["messages"][0]["content"].keys() == {"type", "text", "annotations", "_meta"}
    assert [one["id"] for one in done["long_term_memories"]] == ["tea"]


def test_hydrate_memory_prompt(filled):
    done = filled(
        lambda client: client.hydrate_memory_prompt("What does she drink?", topics={"any": ["tea"]}, limit=1)
    )
    assert [one["id"] for one in done["long_term_memories"]] == ["tea"]
    assert done["messages"][-1]["content"]["text"] == "What does she drink?"


def test_every_method_that_asks_the_server_is_tried():
    """By its name in the files of the client's tests."""
    files = Path(__file__).parent.glob("test_client_*.py")
    tried = "".join(file.read_text() for file in files)
    found = inspect.getmembers(
        MemoryAPIClient, lambda one: inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
    )
    names = {name for name, _method in found if not name.startswith("_")} - {"close"}
    left = {name for name in names if f"client.{name}(" not in tried}
    assert left == set()
