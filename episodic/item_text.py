"""What an item is found by: the texts at the paths of its value that are indexed. Pure.

Paths are those of LangGraph's stores: `a.b`, `a[0]`, `a[-1]`, `a[*].b`, `*`, `{a,b.c}`; `$` is all of it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tenants.errors import Invalid

WHOLE = "$"
MOST_VISITS = 150_000  # a fraction of a second; the largest value has fewer places
STEP = re.compile(r"\[([^\[\]]*)\]|\{([^{}]*)\}|([^.\[\]{}]+)")
NUMBER = re.compile(r"-?\d{1,9}")

Place = tuple[str | int, ...]


@dataclass
class Visits:
    """How often paths may still come past a place of a value: in `{a,b}` and `*` they branch, and what is
    short to write may be long to walk."""

    left: int = MOST_VISITS

    def count(self, places: int) -> None:
        """Raises Invalid once it was too often."""
        self.left -= places
        if self.left < 0:
            raise Invalid(f"The paths come past more than {MOST_VISITS} places of the values.", "index")


def is_path(path: str) -> bool:
    """Whether it is one of these, and not a text of which nothing could be found."""
    steps = list(_steps(path))
    return bool(steps) and not STEP.sub("", path).strip(".") and all(map(_is_step, steps))


def text_of(
    value: dict[str, Any],
    index: Sequence[str] | None,
    *,
    longest: int | None = None,
    visits: Visits | None = None,
) -> str:
    """The texts at these paths, a line each, and each place once; all of the value for None, and nothing for
    none. At most `longest` characters. `visits`: those that are left to all texts of one call. Raises Invalid
    for paths that take more."""
    texts: list[str] = []
    length = 0
    for _place, one in _indexed(value, index, visits or Visits()):
        if text := _told(one):
            texts.append(text)
            length += len(text) + 1
        if longest is not None and length > longest:
            break
    return "\n".join(texts)[:longest]


def only_text(value: dict[str, Any], index: Sequence[str] | None) -> Place | None:
    """Where the text stands that is all that is indexed; None if it is several, or no text."""
    found = list(_indexed(value, index, Visits()))
    if len(found) != 1 or not isinstance(found[0][1], str):
        return None
    return found[0][0]


def replaced(value: Any, place: Place, text: str) -> Any:
    """The value with that text in that place."""
    if not place:
        return text
    step, *rest = place
    if isinstance(value, list):
        return [replaced(one, tuple(rest), text) if at == step else one for at, one in enumerate(value)]
    return value | {step: replaced(value[step], tuple(rest), text)}


def _indexed(
    value: dict[str, Any], index: Sequence[str] | None, visits: Visits
) -> Iterator[tuple[Place, Any]]:
    """The places that are indexed, in the order of the paths, each once."""
    known: set[Place] = set()
    for path in (WHOLE,) if index is None else dict.fromkeys(index):
        found = dict([_whole(value)]) if path == WHOLE else _at(value, path, visits)
        yield from ((place, one) for place, one in found.items() if place not in known)
        known.update(found)


def _whole(value: dict[str, Any]) -> tuple[Place, Any]:
    """A value of nothing but one text is that text."""
    (name, only), *more = value.items() or (("", None),)
    return ((name,), only) if isinstance(only, str) and not more else ((), value)


def _is_step(step: str) -> bool:
    if step.startswith("{"):
        names = _names(step)
        return bool(names) and all(map(is_path, names))
    return not step.startswith("[") or step == "[*]" or NUMBER.fullmatch(step[1:-1]) is not None


def _steps(path: str) -> Iterator[str]:
    return (found[0] for found in STEP.finditer(path))


def _names(step: str) -> list[str]:
    """What stands between braces, each once."""
    return list(dict.fromkeys(name.strip() for name in step[1:-1].split(",") if name.strip()))


def _at(value: Any, path: str, visits: Visits) -> dict[Place, Any]:
    """What the path leads to, by its place in the value. Walked step by step, so that several ways to one
    place are one from there on."""
    found: dict[Place, Any] = {(): value}
    for step in _steps(path):
        visits.count(len(found))
        if step.startswith("{"):
            names = _names(step)
            found = {
                place + below: one
                for place, above in found.items()
                for name in names
                for below, one in _at(above, name, visits).items()
            }
        else:
            found = {(*place, at): one for place, above in found.items() for at, one in _below(above, step)}
        if not found:
            break
    visits.count(len(found))
    return found


def _below(value: Any, step: str) -> Iterator[tuple[str | int, Any]]:
    """What the step leads to."""
    if step.startswith("["):
        if isinstance(value, list):
            yield from _elements(value, step[1:-1])
    elif step == "*":
        if isinstance(value, dict | list):
            yield from value.items() if isinstance(value, dict) else enumerate(value)
    elif isinstance(value, dict) and step in value:
        yield step, value[step]


def _elements(value: list[Any], which: str) -> Iterator[tuple[int, Any]]:
    if which == "*":
        yield from enumerate(value)
    elif NUMBER.fullmatch(which) and -len(value) <= int(which) < len(value):
        at = int(which) % len(value)
        yield at, value[at]


def _told(one: Any) -> str:
    if one is None:
        return ""
    return one if isinstance(one, str) else json.dumps(one, sort_keys=True, ensure_ascii=False)
