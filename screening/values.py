"""Sensitive parts of JSON values. Pure."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from screening.patterns import words_of
from screening.sensitive import find_sensitive, mask

Named = tuple[str, Any]
HEALTH = words_of("""
    diagnosis diagnoses condition conditions illness illnesses disease diseases medication medications
    medicine medicines allergy allergies treatment symptoms disability health
""")
CARDS = words_of("card cards pan visa mastercard amex cc")
WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![a-z])")
DIGITS = re.compile(r"\d(?:[\d -]*\d)?")
MOST_PIECES = 19  # of a number that a list holds in pieces


def text_of(value: Any) -> str:
    """The value as text in which secrets are found; empty for an empty one."""
    return json.dumps(value, ensure_ascii=False, default=str) if value else ""


def told(value: Any, name: str = "") -> str:
    """Everything that the value says, a line each: beside the names that it goes by, as a person would say
    it, and numbers that a list holds in pieces in one."""
    return "\n".join(_lines(value, name))


def mask_value(value: Any, name: str = "") -> Any:
    """The value with its texts and numbers masked, each seen beside the name that it goes by."""
    if isinstance(value, dict):
        names = [masked_text(key) for key in value]
        return dict(zip(names, _masked(list(zip(names, value.values(), strict=True))), strict=True))
    if isinstance(value, list | tuple):
        return _masked_list(value, name)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return value
    shown = str(value)
    masked = masked_text(shown, name)
    return value if masked == shown else masked


def _masked_list(values: Sequence[Any], name: str) -> list[Any]:
    masked = _masked([(name, one) for one in values])
    found = find_sensitive("\n".join(_beside(name, _joined(masked, name))))
    return [f"[{found[0].category}]" for _ in masked] if found else masked


def masked_text(text: str, name: str = "") -> str:
    """The text without what is sensitive in it, also if only its name says that it is."""
    for intro in _intros(name):
        text = _masked_behind(intro, text)
    return text


def _masked_behind(intro: str, text: str) -> str:
    found = find_sensitive(intro + text)
    if not found:
        return text
    masked = mask(intro + text, found)
    return masked.removeprefix(intro) if masked.startswith(intro) else f"[{found[0].category}]"


def _intros(name: str) -> tuple[str, ...]:
    """What may stand before a value so that its name says what it is."""
    words = [word.lower() for word in WORD.findall(name)]
    if not words:
        return (f"{name}: " if name else "",)
    spoken = "I have " if HEALTH.intersection(words) else f"My {' '.join(words)} is "
    return f"{name}: ", spoken


def _beside(name: str, text: str) -> list[str]:
    return [f"{intro}{text}" for intro in _intros(name)] if text else []


def _lines(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, dict | list | tuple):
                yield str(key)
            yield from _lines(one, str(key))
    elif isinstance(value, list | tuple):
        yield from _beside(name, _joined(value, name))
        for one in value:
            yield from _lines(one, name)
    elif value is not None and not isinstance(value, bool):
        yield from _beside(name, str(value))
    elif name:
        yield f"{name}: {value}"


def _joined(values: Sequence[Any], name: str) -> str:
    """The pieces of one number; empty if that is not what the list holds. Numbers that are no text are pieces
    only if the list's name says so: others are prices and counts."""
    if not 1 < len(values) <= MOST_PIECES or any(
        isinstance(one, bool | float | dict | list) for one in values
    ):
        return ""
    if not CARDS.intersection(word.lower() for word in WORD.findall(name)) and not all(
        isinstance(one, str) for one in values
    ):
        return ""
    pieces = [str(one) for one in values]
    return " ".join(pieces) if all(map(DIGITS.fullmatch, pieces)) else ""


def _masked(items: Sequence[Named]) -> list[Any]:
    """The values, masked. Halved until what is sensitive is found: thousands of harmless ones are looked
    through together."""
    if not find_sensitive("\n".join(told(value, name) for name, value in items)):
        return [value for _, value in items]
    if len(items) > 1:
        middle = len(items) // 2
        return _masked(items[:middle]) + _masked(items[middle:])
    return [mask_value(value, name) for name, value in items]
