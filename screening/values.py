"""Sensitive parts of JSON values. Pure."""

import json
from collections.abc import Sequence
from typing import Any

from screening.sensitive import find_sensitive, mask

Named = tuple[str, Any]


def text_of(value: Any) -> str:
    """The value as text in which secrets are found; empty for an empty one."""
    return json.dumps(value, ensure_ascii=False, default=str) if value else ""


def mask_value(value: Any, name: str = "") -> Any:
    """The value with its texts and numbers masked, each seen beside the name that it goes by."""
    if isinstance(value, dict):
        names = [masked_text(key) for key in value]
        return dict(zip(names, _masked(list(zip(names, value.values(), strict=True))), strict=True))
    if isinstance(value, list | tuple):
        return _masked([(name, one) for one in value])
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    shown = str(value)
    masked = masked_text(shown, name)
    return value if masked == shown else masked


def masked_text(text: str, name: str = "") -> str:
    """The text without what is sensitive in it, also if only its name says that it is."""
    intro = f"{name}: " if name else ""
    found = find_sensitive(intro + text)
    if not found:
        return text
    masked = mask(intro + text, found)
    return masked.removeprefix(intro) if masked.startswith(intro) else f"[{found[0].category}]"


def _masked(items: Sequence[Named]) -> list[Any]:
    """The values, masked. Halved until what is sensitive is found: thousands of harmless ones are looked
    through together."""
    if not find_sensitive("\n".join(f"{name}: {text_of(value) or value}" for name, value in items)):
        return [value for _, value in items]
    if len(items) > 1:
        middle = len(items) // 2
        return _masked(items[:middle]) + _masked(items[middle:])
    return [mask_value(value, name) for name, value in items]
