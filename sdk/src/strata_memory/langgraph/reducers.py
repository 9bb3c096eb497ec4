"""Reducers for the channels of a graph's state: a window of messages, a running summary, and entity slots.

    class State(TypedDict):
        messages: Annotated[list[AnyMessage], window(20, fold=digest())]
        facts: Annotated[dict[str, Slot], entities(min_confidence=0.5)]

A reducer only sees its own channel, so a window folds what falls out of it into its own list; `fallen_out`
and `running_summary` are for those who keep the summary beside it. The same arguments give the same reducer:
two schemas that share a channel agree on it.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langgraph.graph.message import add_messages

from .slots import Slot, entities

__all__ = ["SUMMARY_ID", "Slot", "digest", "entities", "fallen_out", "running_summary", "window"]

Fold = Callable[[str, list[BaseMessage]], str]
"""The summary that follows from the one so far ("" at first) and what has now fallen out, oldest first."""

SUMMARY_ID = "strata-summary"
LINE = 200  # characters of a message in a digest


@cache
def window(exchanges: int, *, fold: Fold | None = None) -> Callable[[Any, Any], list[BaseMessage]]:
    """Keeps the newest exchanges: a message of the person and everything until their next one.

    What comes in is merged as `add_messages` does: a known id replaces, RemoveMessage removes (ValueError for
    an unknown id), and messages without an id get one. System messages stay, however old. A tool's result is
    never parted from its call: where a call is older than the window, the window reaches back to it.

    With `fold`, what falls out goes into one system message with the id `SUMMARY_ID`, behind the leading
    system messages. A `fold` that asks a model holds up the step of the graph that calls it, and an
    asynchronous graph's event loop with it. Raises ValueError for fewer than one exchange.
    """
    _check(exchanges)

    def keep_window(left: Any, right: Any) -> list[BaseMessage]:
        kept, fallen = _cut(_merged(left, right), exchanges)
        return _with_summary(kept, fallen, fold) if fold and fallen else kept

    return keep_window


@cache
def running_summary(fold: Fold | None = None) -> Callable[[str, Any], str]:
    """For a channel of text: messages are folded into it (by `digest()` without `fold`), text replaces it.
    Messages are told as `add_messages` takes them: one or several, as objects, pairs or dictionaries."""
    folding = fold or digest()

    def summarise(left: str, right: Any) -> str:
        if isinstance(right, str):
            return right
        return folding(left, _messages(right)) if right else left

    return summarise


def fallen_out(left: Any, right: Any, exchanges: int) -> list[BaseMessage]:
    """The messages that `window(exchanges)` lets go when `right` comes to `left`, oldest first."""
    _check(exchanges)
    return _cut(_merged(left, right), exchanges)[1]


@cache
def digest(characters: int = 2_000) -> Fold:
    """A fold without a model: a line for each message, with how it begins; the newest lines that fit.

    The same messages always give the same text. What a tool answered is left out: the reply that follows it
    tells what mattered. Raises ValueError for fewer characters than one line may have.
    """
    if characters < LINE:
        raise ValueError(f"A digest has at least {LINE} characters.")

    def add_lines(summary: str, fallen: list[BaseMessage]) -> str:
        lines = [*summary.splitlines(), *filter(None, map(_line, fallen))]
        while lines and len("\n".join(lines)) > characters:
            del lines[0]
        return "\n".join(lines)

    return add_lines


def _check(exchanges: int) -> None:
    if exchanges < 1:
        raise ValueError("A window holds at least one exchange.")


def _messages(given: Any) -> list[BaseMessage]:
    """A pair such as ("user", "Hello") is one message, any other sequence has several."""
    is_pair = isinstance(given, tuple) and isinstance(given[0], str)
    several = isinstance(given, Sequence) and not is_pair
    return convert_to_messages(list(given) if several else [given])


def _merged(left: Any, right: Any) -> list[BaseMessage]:
    return cast(list[BaseMessage], add_messages(left, right))


def _cut(messages: list[BaseMessage], exchanges: int) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """What stays, and what falls out."""
    starts = [at for at, one in enumerate(messages) if isinstance(one, HumanMessage)]
    if len(starts) <= exchanges:
        return messages, []
    first = _reaching_calls(messages, starts[-exchanges], starts)
    before = messages[:first]
    system = [one for one in before if isinstance(one, SystemMessage)]
    return [*system, *messages[first:]], [one for one in before if not isinstance(one, SystemMessage)]


def _reaching_calls(messages: list[BaseMessage], first: int, starts: list[int]) -> int:
    """Where the window begins, an exchange's beginning, so that every result in it has its call in it."""
    called = {
        call["id"]: at
        for at, one in enumerate(messages)
        if isinstance(one, AIMessage)
        for call in one.tool_calls
        if call["id"]
    }
    results = [
        (at, called.get(one.tool_call_id, at))
        for at, one in enumerate(messages)
        if isinstance(one, ToolMessage)
    ]
    for at, call in sorted(results, reverse=True):
        if at >= first > call:
            first = max((start for start in starts if start <= call), default=0)
    return first


def _with_summary(kept: list[BaseMessage], fallen: list[BaseMessage], fold: Fold) -> list[BaseMessage]:
    held = [one for one in kept if one.id == SUMMARY_ID]
    others = [one for one in kept if one.id != SUMMARY_ID]
    text = fold(str(held[0].text) if held else "", fallen)
    leading = next((at for at, one in enumerate(others) if not isinstance(one, SystemMessage)), len(others))
    summary = [SystemMessage(text, id=SUMMARY_ID)] if text else []
    return [*others[:leading], *summary, *others[leading:]]


def _line(message: BaseMessage) -> str:
    """One line, or none for what a tool answered and for what holds no text."""
    text = " ".join(str(message.text).split())
    if isinstance(message, ToolMessage) or not text:
        return ""
    said = f"{message.type}: {text}"
    return said if len(said) <= LINE else said[: LINE - 1] + "…"
