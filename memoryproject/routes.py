"""Routes by their pattern: `/api/v1/sessions/{session_id}/turns`. Paths hold the ids of people."""

import re
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "unknown"
STATIC = "static"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_CONVERTER = re.compile(r"<(?:[^<>:]+:)?(\w+)>")


def route_of(request: HttpRequest) -> str:
    """The pattern that the request's path matched; one word for all that match none. A small, fixed set."""
    match = getattr(request, "resolver_match", None)
    if match is not None:
        return _readable(match.route)
    return STATIC if request.path_info.startswith(settings.STATIC_URL) else UNKNOWN


def method_of(request: HttpRequest) -> str:
    """The method; one word for all that HTTP does not know, as clients may send any."""
    method = request.method or ""
    return method if method in METHODS else "OTHER"


@lru_cache(maxsize=1024)
def _readable(route: str) -> str:
    """A Django route, made of paths and regular expressions, as OpenAPI would write it."""
    text = _without_groups(route)
    text = _CONVERTER.sub(r"{\1}", text)
    text = re.sub(r"\\[AZ]|[\^$?]", "", text.replace("/?", "/"))
    return "/" + text.replace("\\", "").strip("/")


def _without_groups(route: str) -> str:
    """Each `(?P<name>…)`, whatever brackets it holds, becomes `{name}`."""
    parts, position = [], 0
    while (start := route.find("(?P<", position)) >= 0:
        name_end = route.index(">", start)
        parts += [route[position:start], "{", route[start + 4 : name_end], "}"]
        position = _closing(route, start) + 1
    return "".join([*parts, route[position:]])


def _closing(route: str, start: int) -> int:
    """Where the group that opens at `start` closes; brackets in a character class do not count."""
    depth, in_class, position = 0, False, start
    while position < len(route):
        char = route[position]
        if char == "\\":
            position += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return position
        position += 1
    return len(route) - 1
