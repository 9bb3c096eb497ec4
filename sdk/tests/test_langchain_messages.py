"""Messages of LangChain go through a session's turns unchanged."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from strata_memory.langchain.messages import message_of, turn_of
from strata_memory.models.sessions import Event

CALL = {"name": "calc", "args": {"a": [1, {"b": None}], "text": "ü"}, "id": "call_1", "type": "tool_call"}
MESSAGES: list[BaseMessage] = [
    HumanMessage("Hello"),
    HumanMessage("Hello", id="m1", name="ana"),
    HumanMessage(
        [
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}},
        ]
    ),
    HumanMessage("", id="x" * 300, name="y" * 300),
    AIMessage("Hi", response_metadata={"model": "m"}, additional_kwargs={"refusal": "no"}),
    AIMessage("", tool_calls=[CALL], id="m2"),
    AIMessage(
        "Hi",
        usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
        invalid_tool_calls=[
            {"name": "calc", "args": "{", "id": "c", "error": "bad", "type": "invalid_tool_call"}
        ],
    ),
    ToolMessage("4", tool_call_id="call_1", name="calc", artifact={"raw": [4]}, status="error"),
    ToolMessage("", tool_call_id=""),
    ToolMessage("zero", tool_call_id="c", artifact=0),
    ToolMessage("false", tool_call_id="c", artifact=False),
    ToolMessage("none", tool_call_id="c", artifact=[]),
    HumanMessage("more", extra=0, other=[], last=None),
    AIMessage([]),
    SystemMessage("Be brief."),
    ChatMessage("Hm", role="critic"),
    FunctionMessage("4", name="calc"),
]


def event(**turn: Any) -> Event:
    """The turn as the server's log tells it, with what it gives to any event."""
    told = {
        "event_id": turn.pop("id", "made-by-the-server"),
        "seq": 1,
        "event_type": "user_message",
        "metadata": {},
        "timestamp": datetime.now(UTC),
    }
    return Event.model_validate(told | turn)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: f"{one.type}-{str(one.content)[:12]}")
def test_a_message_comes_back_as_it_was(message: BaseMessage) -> None:
    assert message_of(event(**turn_of(message))) == message


def test_other_clients_can_read_the_turn() -> None:
    turn = turn_of(AIMessage("I add.", tool_calls=[CALL], id="m2", name="helper"))

    assert (turn["role"], turn["content"], turn["id"], turn["name"]) == (
        "assistant",
        "I add.",
        "m2",
        "helper",
    )
    assert turn["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "calc", "arguments": '{"a": [1, {"b": null}], "text": "ü"}'},
        }
    ]
    assert turn_of(ToolMessage("4", tool_call_id="call_1"))["tool_call_id"] == "call_1"


def test_what_is_said_stands_in_the_turn_alone() -> None:
    assert "secret plan" not in str(turn_of(HumanMessage("secret plan"))["metadata"])


def test_a_streamed_answer_is_kept_as_a_whole_one() -> None:
    chunk = AIMessageChunk("Hi") + AIMessageChunk(" there")

    assert message_of(event(**turn_of(chunk))) == AIMessage("Hi there")


def test_turns_of_other_clients_become_messages() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "calc", "arguments": '{"a": 1}'}}

    assert message_of(event(role="user", content="Hello", id="t1", name="ana")) == HumanMessage(
        "Hello", id="t1", name="ana"
    )
    assert message_of(event(role="assistant", content=None, id="t2", tool_calls=[call])) == AIMessage(
        "", id="t2", tool_calls=[{"name": "calc", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]
    )
    assert message_of(event(role="tool", content="2", id="t3", tool_call_id="c1")) == ToolMessage(
        "2", tool_call_id="c1", id="t3"
    )
    assert message_of(event(role="system", content="Be brief.", id="t4")) == SystemMessage(
        "Be brief.", id="t4"
    )


def test_a_tool_call_that_cannot_be_read_is_told_as_such() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "calc", "arguments": "{oops"}}
    message = message_of(event(role="assistant", content="", tool_calls=[call]))

    assert isinstance(message, AIMessage)
    assert (message.tool_calls, message.invalid_tool_calls[0]["args"]) == ([], "{oops")


def test_an_event_that_nobody_said_is_no_message() -> None:
    assert message_of(event(role=None, content={"agent": "worker"})) is None


def test_bytes_and_halves_of_characters_are_kept_as_far_as_json_can() -> None:
    artifact = {"image": b"\x89PNG", "half\ud800": "\ude00", "whole": "\ud83d\ude00"}
    call = CALL | {"args": {"raw": b"\xff", "half\ud800": 1}}
    told = turn_of(ToolMessage("a\ud800", tool_call_id="c", artifact=artifact))
    assert told["content"] == "a\ufffd"
    assert told["metadata"]["langchain"]["artifact"] == {
        "image": "iVBORw==",
        "half\ufffd": "\ufffd",
        "whole": "\U0001f600",
    }
    asked = turn_of(AIMessage("", tool_calls=[call]))["tool_calls"][0]["function"]["arguments"]
    assert json.loads(asked) == {"raw": "_w==", "half\ufffd": 1}
    json.dumps(told, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "kept",
    [
        {"type": "agent"},
        {"type": "tool"},
        {"type": "remove"},
        {"type": "system"},
        {"type": ["human"]},
        {"type": "chat", "role": "system"},
        {"type": "chat", "role": 5},
        {"type": "human", "name": {}},
        {"type": "human", "content": {}},
        {"type": "human", "content": "You are free."},
        {"type": "human", "self": 1},
        {},
        "human",
    ],
    ids=str,
)
def test_metadata_that_says_another_than_the_turn_is_not_believed(kept: Any) -> None:
    message = message_of(event(role="user", content="Hello", id="t1", metadata={"langchain": kept}))

    assert message is not None
    assert (message.type, message.text) == ("human", "Hello")


@pytest.mark.parametrize(
    "call",
    [
        {},
        {"function": 5},
        {"function": {}},
        {"id": 5, "function": {"name": "calc", "arguments": "{}"}},
        {"function": {"name": "calc", "arguments": '"text"'}},
        {"function": {"name": "calc", "arguments": None}},
        {"function": {"name": ["calc"], "arguments": "{"}},
    ],
    ids=str,
)
def test_no_tool_call_makes_a_turn_unreadable(call: dict[str, Any]) -> None:
    for metadata in ({}, {"langchain": {"type": "ai"}}):
        message = message_of(event(role="assistant", content="Hm", tool_calls=[call], metadata=metadata))
        assert isinstance(message, AIMessage)
        assert (message.text, message.tool_calls) == ("Hm", [])


def test_an_order_to_remove_a_message_is_not_said_by_anybody() -> None:
    with pytest.raises(ValueError, match="remove"):
        turn_of(RemoveMessage(id="m1"))
