"""Bodies as Go's decoder reads them: members in any case, unknown ones passed over, null as if it were not
there, and nothing after the first value looked at."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from rest_framework.request import Request

from api.parsers import Malformed, parse_json
from api.views import LONGEST_ID, body_of
from tenants.errors import Invalid

KINDS = {str: "string", bool: "bool", int: "number", float: "number", Decimal: "number", list: "array"}
LARGEST = 2**31 - 1
FREE_TEXTS = frozenset({"content", "role", "tags", "title"})  # binary output may stand in them


class BadBody(Invalid):
    """The body is no JSON, or of another shape."""


class Members:
    """The members of an object; `place` says which, where the body holds several."""

    def __init__(self, value: Any, place: str = "") -> None:
        self.place = place
        if not isinstance(value, Mapping | None):
            raise self._bad(mismatch(value, "Go value", "struct"))
        self._given: dict[str, Any] = {}
        for name, member in (value or {}).items():
            if member is not None:
                self._given[name.casefold()] = member

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        value = self.optional_text(name)
        return default if value is None else value

    def optional_text(self, name: str) -> str | None:
        """A text, or None if there is none."""
        value = self._given.get(name)
        return value if value is None else self._typed(name, value, str, "string")

    def id(self, name: str) -> str:
        """A text that a column for ids can hold; empty if there is none."""
        value = self.text(name)
        if len(value) > LONGEST_ID:
            raise self._bad(f"validation failed: {name} exceeds {LONGEST_ID} chars")
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, or None if there is none."""
        if (several := self.items(name)) is None:
            return None
        return tuple("" if one is None else self._typed(name, one, str, "string") for one in several)

    def items(self, name: str) -> list[Any] | None:
        """A list of anything, or None if there is none."""
        value = self._given.get(name)
        return value if value is None else self._typed(name, value, list, "array")

    def number(self, name: str, default: int) -> int:
        """A whole number from 0 to 2³¹ - 1."""
        value = self._given.get(name)
        if value is None:
            return default
        number: int = self._typed(name, value, int, "int")
        if isinstance(value, bool) or not 0 <= number <= LARGEST:
            raise self._bad(mismatch(value, f"Go struct field {name}", "int"))
        return number

    def moment(self, name: str) -> datetime | None:
        """A moment, in UTC unless it says otherwise; None if there is none."""
        text = self.text(name)
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise self._bad(f"invalid JSON: {name} is not a time") from error

    def _typed(self, name: str, value: Any, kind: type, told: str) -> Any:
        if not isinstance(value, kind):
            raise self._bad(mismatch(value, f"Go struct field {name}", told))
        return value

    def _bad(self, told: str) -> BadBody:
        return BadBody(f"{self.place}: {told}" if self.place else told)


def read_members(request: Request) -> Members:
    """The members of the request's body; in free texts, U+FFFD stands for what cannot be stored. Raises
    BadBody; Invalid for such text elsewhere; TooLarge."""
    return Members(first_value(body_of(request)))


def first_value(body: bytes) -> Any:
    """The first JSON value of a body. Raises BadBody."""
    if not body.strip():
        raise BadBody("invalid JSON: EOF")
    try:
        return parse_json(body, as_go=True, mending=FREE_TEXTS)
    except Malformed as error:
        raise BadBody(f"invalid JSON: {_reason(error)}") from error


def mismatch(value: Any, where: str, wanted: str) -> str:
    """The sentence about a value of another type."""
    kind = "object" if isinstance(value, Mapping) else KINDS[type(value)]
    return f"invalid JSON: json: cannot unmarshal {kind} into {where} of type {wanted}"


def _reason(error: Malformed) -> str:
    cause = error.__cause__
    if not isinstance(cause, json.JSONDecodeError):
        return str(error)
    if cause.pos >= len(cause.doc) or cause.msg.startswith("Unterminated string"):
        return "unexpected EOF"
    return f"invalid character {cause.doc[cause.pos]!r} ({cause.msg}: char {cause.pos})"
