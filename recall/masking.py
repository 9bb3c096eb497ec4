"""What should not be repeated, masked in what is answered; the log keeps it. Pure."""

import json
from dataclasses import replace
from typing import Any

from screening.sensitive import find_sensitive, mask
from working.types import Turn

SHORTEST = 4  # characters: nothing shorter is looked for
LONGEST_MEMBER = 200  # characters of a value that is looked at together with its name


def mask_turn(turn: Turn) -> Turn:
    """The turn with what is sensitive masked, in its content and in the arguments of its calls."""
    content, calls = mask_value(turn.content), mask_value(turn.tool_calls)
    if content is turn.content and calls is turn.tool_calls:
        return turn
    return replace(turn, content=content, tool_calls=calls)


def mask_value(value: Any) -> Any:
    """Likewise any JSON value: each of its strings, and each member by the name that it stands under, as
    `"password": "…"`. The same object where nothing is to be masked."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list):
        masked = [mask_value(one) for one in value]
        return value if all(a is b for a, b in zip(masked, value, strict=True)) else masked
    if isinstance(value, dict):
        named = {name: _mask_member(name, one) for name, one in value.items()}
        return value if all(named[name] is value[name] for name in value) else named
    return value


def mask_text(text: str) -> str:
    """Likewise a text; JSON stays JSON."""
    if len(text) < SHORTEST or not (found := find_sensitive(text)):
        return text
    if text.lstrip()[:1] in {"{", "["} and (parsed := _parsed(text)) is not None:
        masked = mask_value(parsed)
        if masked is not parsed:
            return json.dumps(masked, ensure_ascii=False)
    return mask(text, found)


def _mask_member(name: str, value: Any) -> Any:
    masked = mask_value(value)
    is_short = isinstance(value, int) or (isinstance(value, str) and len(value) <= LONGEST_MEMBER)
    if masked is not value or not is_short:
        return masked
    found = find_sensitive(f"{name}: {value}")
    inside = [one for one in found if one.end > len(name) + 2]
    return f"[{inside[0].category}]" if inside else value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
