"""What in a value is no JSON, and where: for the errors of calls that cannot be sent. Pure."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

Container: TypeAlias = dict[Any, Any] | list[Any] | tuple[Any, ...]
PLAIN = (str, int, float, type(None))


def misfit(name: str, value: Any, *, translate: Callable[[Any], Any] | None = None) -> TypeError | ValueError:
    """The error for the first place that is at fault, level by level.

    `translate` makes what JSON does not know into what it knows, or raises ValueError. The parts of a value
    without a name are called as they are themselves: `turns[0].content`.
    """
    todo: deque[tuple[str, Any]] = deque([(name, value)])
    seen: dict[int, Any] = {}  # with what was seen, so that no other gets its id
    while todo:
        place, one = todo.popleft()
        if isinstance(one, dict | list | tuple):
            if id(one) in seen:
                continue
            seen[id(one)] = one
            if (key := _wrong_key(one)) is not None:
                return TypeError(f"{place or 'The body'} has the key {key}, which is no JSON.")
            todo += _parts(place, one)
        elif _is_not_finite(one):
            return ValueError(f"{place} is {one}, which is not JSON compliant.")
        elif not isinstance(one, PLAIN):
            try:
                todo.append((place, _translated(one, translate)))
            except UnicodeDecodeError:
                return ValueError(f"{place} holds bytes that are not UTF-8.")
            except (TypeError, ValueError):
                return TypeError(f"{place} is of type {type(one).__name__}, which is no JSON.")
    return ValueError(f"{name or 'The body'} contains itself, or is nested too deeply for JSON.")


def _translated(one: Any, translate: Callable[[Any], Any] | None) -> Any:
    if translate is None:
        raise TypeError
    return translate(one)


def _wrong_key(whole: Container) -> str | None:
    """How a key looks that JSON cannot tell, if there is one."""
    for key in whole if isinstance(whole, dict) else ():
        if not isinstance(key, PLAIN) or _is_not_finite(key):
            return repr(key)
    return None


def _parts(place: str, whole: Container) -> list[tuple[str, Any]]:
    if isinstance(whole, dict):
        return [(f"{place}.{key}" if place else str(key), one) for key, one in whole.items()]
    return [(f"{place}[{at}]", one) for at, one in enumerate(whole)]


def _is_not_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
