"""Reads fields of untrusted JSON objects. What cannot be used is said as Unusable."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from api.parsers import DEEPEST, UNSTORABLE, mend_text
from memoryproject.importing.errors import Unusable

LONGEST_NAME = 255  # characters of ids
LONGEST_SAMPLE = 2_000
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)


def as_object(value: Any) -> dict[str, Any]:
    """`value` as a JSON object that can be stored."""
    if not isinstance(value, dict):
        raise Unusable("not a JSON object")
    _check_storable(value)
    return value


def text(item: Mapping[str, Any], *names: str) -> str:
    """The text in the first of these fields that there is."""
    value = next((item[name] for name in names if item.get(name) is not None), "")
    if not isinstance(value, str):
        raise Unusable(f"{names[0]} is not a text")
    if not value.strip():
        raise Unusable(f"{names[0]} is empty")
    return value


def name(item: Mapping[str, Any], field: str) -> str:
    """The id in the field, a number as its digits; empty without one."""
    value = item.get(field)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Unusable(f"{field} is not a name")
    if len(str(value)) > LONGEST_NAME:
        raise Unusable(f"{field} is too long")
    return str(value)


def moment(item: Mapping[str, Any], field: str) -> datetime | None:
    """The moment in the field: ISO 8601, UTC without a zone, or seconds since 1970; None without one."""
    value = item.get(field)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            found = datetime.fromisoformat(value)
        found = found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        raise Unusable(f"{field} is a broken date") from None
    if found < EARLIEST:
        raise Unusable(f"{field} is a broken date")
    return found


def texts(item: Mapping[str, Any], field: str) -> tuple[str, ...]:
    """The list of texts in the field, empty ones left out."""
    value = item.get(field) or []
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise Unusable(f"{field} is not a list of texts")
    return tuple(one for one in value if one.strip())


def members(item: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The object in the field; empty without one."""
    value = item.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unusable(f"{field} is not an object")
    return value


def number(item: Mapping[str, Any], field: str, otherwise: int) -> int:
    """The whole number in the field."""
    value = item.get(field)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
        raise Unusable(f"{field} is not a whole number")
    return value


def derived_id(prefix: str, *parts: Any) -> str:
    """An id for what has none of its own: the same for the same parts."""
    told = json.dumps(parts, sort_keys=True, default=str)
    return f"{prefix}:{hashlib.sha256(told.encode()).hexdigest()[:32]}"


def in_path(part: str) -> str:
    """The id as one part of a path."""
    return quote(part, safe="")


def sample_of(value: Any) -> str:
    """The beginning of what cannot be used, for the report, which can be printed."""
    try:
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return ""  # its nesting is what is wrong with it
    return mend_text(told[:LONGEST_SAMPLE])


def _check_storable(value: Any) -> None:
    """Level by level: of what somebody else has nested, no depth may be too much for us."""
    level = [value]
    for _depth in range(DEEPEST + 1):
        if any(isinstance(one, str) and UNSTORABLE.search(one) for one in level):
            raise Unusable("a character that cannot be stored")
        if any(isinstance(one, float) and not math.isfinite(one) for one in level):
            raise Unusable("a number that cannot be stored")
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return
    raise Unusable(f"nested deeper than {DEEPEST} levels")


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return (*value, *value.values())
    return value if isinstance(value, list) else ()
