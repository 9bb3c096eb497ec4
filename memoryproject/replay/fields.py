"""Reads fields of untrusted JSON objects; what is wrong is said with the place where it stands."""

from typing import Any

from memoryproject.replay.errors import MalformedTranscript


def fail(place: str, problem: str) -> MalformedTranscript:
    """The error to raise for `problem`."""
    return MalformedTranscript(f"{place}: {problem}.")


def as_object(value: Any, place: str) -> dict[str, Any]:
    """`value` as a JSON object."""
    if not isinstance(value, dict):
        raise fail(place, "this must be a JSON object")
    return value


def text(item: dict[str, Any], name: str, place: str) -> str:
    """The non-empty text in field `name`."""
    value = item.get(name)
    if not isinstance(value, str) or not value.strip():
        raise fail(place, f"{name!r} must be a text that is not empty")
    return value


def optional_text(item: dict[str, Any], name: str, place: str) -> str:
    """The text in field `name`; a number is taken as its digits, null and absence as empty."""
    value = item.get(name)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise fail(place, f"{name!r} must be a text")
    return str(value)


def items(item: dict[str, Any], name: str, place: str) -> list[Any]:
    """The list in field `name`."""
    value = item.get(name)
    if not isinstance(value, list):
        raise fail(place, f"{name!r} must be a list")
    return value


def texts(item: dict[str, Any], name: str, place: str) -> list[str]:
    """The list of texts in field `name`; absence is an empty list."""
    found = items(item, name, place) if name in item else []
    if not all(isinstance(one, str) for one in found):
        raise fail(place, f"{name!r} must be a list of texts")
    return found


def optional_number(item: dict[str, Any], name: str, place: str) -> int | None:
    """The whole number in field `name`, or None."""
    value = item.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise fail(place, f"{name!r} must be a whole number")
    return value
