"""Messages of Pydantic AI: what of them becomes events, and what events become."""

import asyncio
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from strata_memory.kaos import LocalMemory


@dataclass
class Message:
    """Stands for a message or a part of one: Pydantic AI need not be installed."""

    parts: list[Any] | None = None
    content: Any = None
    part_kind: str = ""
    tool_name: str = ""
    args: Any = None


@pytest.fixture
def pydantic_ai(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("pydantic_ai.messages")
    for name in ("ModelRequest", "ModelResponse", "TextPart", "UserPromptPart"):
        setattr(module, name, type(name, (Message,), {}))
    monkeypatch.setitem(sys.modules, "pydantic_ai", ModuleType("pydantic_ai"))
    monkeypatch.setitem(sys.modules, "pydantic_ai.messages", module)


def _history(events: list[tuple[str, Any]], **limit: int) -> list[tuple[str, str]] | None:
    async def scenario() -> list[Any] | None:
        memory = LocalMemory()
        await memory.create_session("agent", "ana", "s")
        for event_type, content in events:
            await memory.add_event("s", event_type, content)
        return await memory.build_message_history("s", **limit)

    found = asyncio.run(scenario())
    return None if found is None else [(type(one).__name__, one.parts[0].content) for one in found]


@pytest.mark.usefixtures("pydantic_ai")
def test_the_history_is_what_was_said_before_the_newest_prompt() -> None:
    said = [("user_message", "One"), ("tool_call", {"tool": "calc"}), ("agent_response", "Two")]

    assert _history([*said, ("user_message", "Three")]) == [("ModelRequest", "One"), ("ModelResponse", "Two")]


@pytest.mark.usefixtures("pydantic_ai")
def test_its_limit_counts_events_of_any_type() -> None:
    said = [
        ("task_delegation_received", "One"),
        ("agent_response", "Two"),
        ("error", "no"),
        ("user_message", "!"),
    ]

    assert _history(said, context_limit=2) == [("ModelResponse", "Two")]
    assert _history(said, context_limit=0) == [("ModelRequest", "One"), ("ModelResponse", "Two")]


@pytest.mark.usefixtures("pydantic_ai")
@pytest.mark.parametrize("events", [[], [("user_message", "One")], [("agent_response", "One")]])
def test_nothing_before_it_is_no_history(events: list[tuple[str, Any]]) -> None:
    assert _history(events) is None


def test_tool_calls_and_answers_become_events() -> None:
    parts = [
        Message(part_kind="text", content="I look it up."),
        Message(part_kind="tool-call", tool_name="calc", args={"a": 1}),
        Message(part_kind="tool-call", tool_name="delegate_to_worker", args='{"task": "count"}'),
        Message(part_kind="tool-return", tool_name="calc", content='{"sum": 2}'),
        Message(part_kind="tool-return", tool_name="calc", content="two"),
        Message(part_kind="tool-return", tool_name="delegate_to_worker", content=2),
    ]

    async def scenario() -> list[tuple[str, Any]]:
        memory = LocalMemory()
        await memory.create_session("agent", "ana", "s")
        await memory.store_pydantic_message("s", Message(parts=parts))
        return [(one.event_type, one.content) for one in await memory.get_session_events("s")]

    assert asyncio.run(scenario()) == [
        ("tool_call", {"tool": "calc", "arguments": {"a": 1}}),
        ("delegation_request", {"tool": "delegate_to_worker", "arguments": '{"task": "count"}'}),
        ("tool_result", {"tool": "calc", "result": {"sum": 2}}),
        ("tool_result", {"tool": "calc", "result": "two"}),
        ("delegation_response", {"tool": "delegate_to_worker", "result": "2"}),
    ]
