"""Every method of every REST route, with a request that is right.

`test_urls.py` compares this table with Django's URLs: a route that is missing here fails it.
"""

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from api.mcp.http import mcp_view
from memoryproject.metrics import metrics_view
from tests.api.dialect_calls import AEGIS, AGENTOPS, AMS, KAOS
from tests.api.native_calls import NATIVE

HTTP_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CALLS = (*AEGIS, *AGENTOPS, *AMS, *KAOS, *NATIVE)
WITH_BODY = tuple(call for call in CALLS if call.body is not None)
WITH_ID = tuple(call for call in CALLS if "{id}" in call.path)


def routes() -> Iterator[tuple[type[Any], str]]:
    """Every view of the URL table that is ours, with its pattern."""
    return _walk(get_resolver().url_patterns)


def _walk(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[tuple[type[Any], str]]:
    for one in patterns:
        where = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            if where != "admin/":
                yield from _walk(one.url_patterns, where)
        # For operators: tests/observability. Another protocol than REST: tests/mcp.
        elif one.callback not in {metrics_view, mcp_view}:
            view = getattr(one.callback, "view_class", one.callback)
            if not view.__module__.startswith("console."):  # pages for people: tests/console, tests/me
                yield view, where


def methods(view: type[Any]) -> set[str]:
    return {method for method in HTTP_METHODS if hasattr(view, method.lower())}
