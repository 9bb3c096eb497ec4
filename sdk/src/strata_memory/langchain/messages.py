"""LangChain's messages as turns of a session, and back. Pure.

A turn says what any other client of the session can read: role, text, tool calls as chat APIs have them. What
is left (blocks of content, token counts, artifacts) is in the turn's metadata under `langchain`, so that a
message comes back as it was.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    BaseMessageChunk,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
    message_chunk_to_message,
    message_to_dict,
    messages_from_dict,
)
from langchain_core.messages.tool import default_tool_parser, invalid_tool_call
from pydantic_core import to_jsonable_python

from ..inputs import NewTurn, Role
from ..models.sessions import Event

KEPT = "langchain"
LONGEST_ID = 255
ROLES: dict[str, Role] = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
OWN_ROLES: dict[str, Role] = {"assistant": "assistant", "ai": "assistant", "system": "system", "tool": "tool"}


def turn_of(message: BaseMessage) -> NewTurn:
    """The message as a turn. Raises ValueError for one that nobody says, such as RemoveMessage."""
    if isinstance(message, BaseMessageChunk):
        message = message_chunk_to_message(message)
    told = message_to_dict(message)
    data: dict[str, Any] = told["data"]
    turn: NewTurn = {"role": _role_of(message), "content": _whole(str(message.text))}
    if isinstance(message, AIMessage) and message.tool_calls:
        turn["tool_calls"] = [_chat_call(call) for call in data.pop("tool_calls")]
    for field, value in (("id", message.id), ("name", message.name)):
        if _is_id(value):
            turn[field] = _whole(value)  # type: ignore[literal-required]
    if isinstance(message, ToolMessage) and _is_id(message.tool_call_id):
        turn["tool_call_id"] = _whole(message.tool_call_id)
    if isinstance(message.content, str):
        del data["content"]
    left = {name: value for name, value in data.items() if not _is_default(message, name, value)}
    turn["metadata"] = {KEPT: _told({"type": told["type"], **left})}
    return turn


def message_of(event: Event) -> BaseMessage | None:
    """The turn as a message; None for an event that is no turn."""
    if event.role is None:
        return None
    content = event.content if isinstance(event.content, str) else ""
    message = _kept_message(event, content)
    if message is not None:
        return message
    return spoken(
        event.role,
        content,
        tool_calls=event.tool_calls,
        tool_call_id=event.tool_call_id,
        name=event.name,
        id=event.event_id,
    )


def _kept_message(event: Event, content: str) -> BaseMessage | None:
    """The message that the metadata completes. Any client may write these: None where they say somebody else
    than the turn does, or what no message has."""
    kept = event.metadata.get(KEPT)
    if not isinstance(kept, Mapping) or _role_told(kept) != event.role:
        return None
    data = {name: value for name, value in kept.items() if name != "type"}
    if not isinstance(data.get("content"), list):
        data["content"] = content
    if event.tool_calls:
        data |= _calls(event.tool_calls)
    try:
        return messages_from_dict([{"type": kept["type"], "data": data}])[0]
    except (KeyError, TypeError, ValueError):
        return None


def spoken(
    role: str,
    content: str,
    *,
    tool_calls: list[dict[str, Any]] | None = None,
    tool_call_id: str | None = None,
    **who: str | None,
) -> BaseMessage:
    """The message of a turn that came from elsewhere; `who` are `name` and `id`."""
    named = {field: value for field, value in who.items() if value is not None}
    if role == "assistant":
        return AIMessage(content, **_calls(tool_calls or []), **named)
    if role == "tool":
        return ToolMessage(content, tool_call_id=tool_call_id or "", **named)
    if role == "system":
        return SystemMessage(content, **named)
    return HumanMessage(content, **named)


def _role_of(message: BaseMessage) -> Role:
    role = _role_told({"type": message.type, "role": getattr(message, "role", None)})
    if role is None:
        raise ValueError(f"A message of type {message.type!r} is not said by anybody.")
    return role


def _role_told(kept: Mapping[str, Any]) -> Role | None:
    """Who says a message of that type, and of a ChatMessage's own role."""
    if kept.get("type") == "chat":
        return OWN_ROLES.get(str(kept.get("role")), "user")
    return ROLES.get(str(kept.get("type")))


def _is_default(message: BaseMessage, name: str, value: Any) -> bool:
    """Whether a message without it is the same: nothing stands where nothing is the default."""
    field = type(message).model_fields.get(name)
    default = None if field is None else field.get_default(call_default_factory=True)
    is_default = field is not None and type(value) is type(default) and not value and value == default
    return name == "type" or is_default


def _is_id(text: str | None) -> bool:
    return text is not None and 0 < len(text) <= LONGEST_ID


def _chat_call(call: Mapping[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(_told(call["args"], numbers="constants"), ensure_ascii=False)
    named = {"name": _whole(call["name"]), "arguments": arguments}
    return {"id": _whole(call["id"]), "type": "function", "function": named}


def _told(value: Any, *, numbers: Literal["null", "constants"] = "null") -> Any:
    """As JSON: bytes in base64, what JSON does not know as text, and `numbers` that it does not know."""
    translate = partial(to_jsonable_python, fallback=str, inf_nan_mode=numbers, bytes_mode="base64")
    try:
        return _whole(translate(value))
    except UnicodeEncodeError:  # a key with half a pair
        return _whole(translate(_whole(value)))


def _whole(value: Any) -> Any:
    """The same with `\ufffd` for each half of a pair of surrogates, which no other client could read."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole(name): _whole(one) for name, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


def _calls(calls: list[dict[str, Any]]) -> dict[str, Any]:
    """What can be read of tool calls, and what cannot."""
    read: list[ToolCall] = []
    unread: list[InvalidToolCall] = []
    for call in calls:
        try:
            some, odd = default_tool_parser([call])
            AIMessage("", tool_calls=some, invalid_tool_calls=odd)
        except (KeyError, TypeError, ValueError):
            some, odd = [], [invalid_tool_call(args=json.dumps(call), error="It is no tool call.")]
        read += some
        unread += odd
    return {"tool_calls": read, **({"invalid_tool_calls": unread} if unread else {})}
