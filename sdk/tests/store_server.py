"""A server of the store that is a function."""

import json
from collections.abc import Callable
from typing import Any

import httpx
from strata_memory import AsyncStrataClient, StrataClient
from strata_memory.langgraph import AsyncStrataStore, StrataStore

AT = "2026-11-22T10:00:00+00:00"


def item(key: str = "k", **more: Any) -> dict[str, Any]:
    return {"namespace": ["a", "b"], "key": key, "value": {}, "created_at": AT, "updated_at": AT, **more}


def nothing_found(operation: dict[str, Any]) -> Any:
    return [] if operation["op"] in {"search", "namespaces"} else None


class Server:
    """Answers each operation by `answer`, and remembers the requests."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any] = nothing_found) -> None:
        self.answer = answer
        self.requests: list[list[dict[str, Any]]] = []
        self.keys: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/api/v1/store/batch"
        operations = json.loads(request.content)["operations"]
        self.requests.append(operations)
        self.keys.append(request.headers.get("Idempotency-Key"))
        return httpx.Response(200, json={"results": [self.answer(one) for one in operations]})

    @property
    def operations(self) -> list[dict[str, Any]]:
        return [one for request in self.requests for one in request]

    def store(self, **options: Any) -> StrataStore:
        client = StrataClient("http://strata", "key", transport=httpx.MockTransport(self), retries=0)
        return StrataStore(client, **options)

    def async_store(self, **options: Any) -> AsyncStrataStore:
        client = AsyncStrataClient("http://strata", "key", transport=httpx.MockTransport(self), retries=0)
        return AsyncStrataStore(client, **options)
