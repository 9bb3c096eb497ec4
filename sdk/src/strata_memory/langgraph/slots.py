"""Entity slots in a graph's state, merged as the server merges its own (docs/entities.md)."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, Required, TypedDict, cast

LONGEST_KEY = 255
UNUSABLE = re.compile(r"[/\x00-\x1f\x7f]")
TAKEN = frozenset({"confirm", "history", "pin", "unpin"})  # what the server's routes are called


class Slot(TypedDict, total=False):
    """What is believed under one key. `confidence` is 1 if not given; `valid_from` names its time zone."""

    value: Required[Any]
    confidence: float
    valid_from: str
    source: str
    pinned: bool


MEMBERS = Slot.__required_keys__ | Slot.__optional_keys__
Slots = dict[str, Slot]
Updates = Mapping[str, Any]


@cache
def entities(*, min_confidence: float = 0.0) -> Callable[[Slots, Updates], Slots]:
    """Merges slots key by key.

    An update has for a key a `Slot`, a plain value (of confidence 1), or None, which takes the slot back.
    What has a `value` and other members than those of a `Slot` is a plain value. Another value replaces what
    holds, whatever the confidence of either; the same value counts where its confidence is not lower. What
    was valid only before the value that holds began is history, and a state keeps none. A pinned slot keeps
    its value unless the update says `pinned` itself, True or False. Updates below `min_confidence` are left
    out. Keys are stored in one spelling: trimmed, casefolded, white space as `_`.

    Raises ValueError for a key or confidence that the server would refuse, a value that is no JSON, and a
    `valid_from` without a time zone.
    """

    def merge(left: Slots, right: Updates) -> Slots:
        merged = dict(left)
        for name, given in right.items():
            key = _key(name)
            if given is None:
                merged.pop(key, None)
                continue
            new = _slot(given)
            if new["confidence"] >= min_confidence and _counts(merged.get(key), new):
                merged[key] = _written(merged.get(key), new)
        return merged

    return merge


def _key(name: str) -> str:
    key = "_".join(name.split()).casefold()
    if not key or len(key) > LONGEST_KEY or key in TAKEN or UNUSABLE.search(key):
        raise ValueError(f"{name!r} cannot be the key of a slot.")
    return key


def _slot(given: Any) -> Slot:
    is_slot = isinstance(given, Mapping) and "value" in given and given.keys() <= MEMBERS
    slot = cast(Slot, dict(given)) if is_slot else Slot(value=given)
    confidence: object = slot.setdefault("confidence", 1.0)
    is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    if not (is_number and 0 <= slot["confidence"] <= 1):  # so is no NaN
        raise ValueError(f"A confidence is a number from 0 to 1, not {confidence!r}.")
    if (since := slot.get("valid_from")) is not None:
        _moment(since)
    _canonical(slot["value"])
    return slot


def _counts(held: Slot | None, new: Slot) -> bool:
    if held is None:
        return True
    if _canonical(held["value"]) == _canonical(new["value"]):
        return new["confidence"] >= held["confidence"]
    if held.get("pinned") and "pinned" not in new:
        return False
    began, begins = held.get("valid_from"), new.get("valid_from")
    return not (began and begins and _moment(begins) < _moment(began))


def _written(held: Slot | None, new: Slot) -> Slot:
    """A slot stays pinned until an update says otherwise; the same value has held since it first did."""
    written = new.copy()
    if held is None:
        return written
    if "pinned" in held:
        written.setdefault("pinned", held["pinned"])
    if "valid_from" in held and _canonical(held["value"]) == _canonical(new["value"]):
        written["valid_from"] = held["valid_from"]
    return written


def _moment(text: str) -> datetime:
    if not isinstance(text, str):
        raise ValueError(f"A moment is told as text, not {text!r}.")
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} names no time zone.")
    return moment


def _canonical(value: Any) -> Any:
    """Compares as JSON does: 1 is 1.0 and not true, the order of an object's members does not matter."""
    try:
        return _typed(json.loads(json.dumps(value, allow_nan=False)))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"The value of a slot is no JSON: {error}") from None


def _typed(value: Any) -> Any:
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict):
        return {name: _typed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_typed(one) for one in value]
    return value
