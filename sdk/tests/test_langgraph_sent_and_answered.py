"""What no store sends, and what it takes for no answer."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from langgraph.store.base import GetOp, ListNamespacesOp, Op, PutOp, SearchOp
from strata_memory import StrataClient
from strata_memory.errors import InvalidAnswer
from strata_memory.langgraph import StrataStore
from strata_memory.langgraph.operations import requests

from sdk.tests.store_server import AT, Server, item

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ITSELF: dict[str, Any] = {}
ITSELF["again"] = ITSELF
NO_JSON = [
    ({"seen": [1, NOW]}, TypeError, r"value\.seen\[1\] is of type datetime"),
    ({"a": {"raw": b"x"}}, TypeError, r"value\.a\.raw is of type bytes"),
    ({"tags": {"x"}}, TypeError, r"value\.tags is of type set"),
    ({"at": {(1, 2): "x"}}, TypeError, r"value\.at has the key \(1, 2\)"),
    ({"x": float("nan")}, ValueError, r"value\.x is nan, which is not JSON compliant"),
    (ITSELF, ValueError, "value contains itself"),
]


@pytest.mark.parametrize(("value", "error", "said"), NO_JSON)
@pytest.mark.parametrize("beside", [[], [PutOp(("a",), "l", {})]], ids=["alone", "in a batch"])
def test_a_value_that_is_no_json_is_never_sent(
    beside: list[Op], value: dict[str, Any], error: type[Exception], said: str
) -> None:
    server = Server()
    with pytest.raises(error, match=said):
        server.store().batch([PutOp(("a",), "k", value), *beside])
    assert server.requests == []


def test_what_plain_json_says_is_sent_as_it_is() -> None:
    server = Server()
    value = {"a": (1, 2.5), "b": None, "c": {"d": True}, "e": "\ud800"}
    server.store().put(("a",), "k", value)
    assert server.operations[0]["value"] == {**value, "a": [1, 2.5]}


@pytest.mark.parametrize(("value", "error", "said"), NO_JSON)
def test_of_calls_of_one_moment_only_the_one_that_cannot_be_sent_fails(
    value: dict[str, Any], error: type[Exception], said: str
) -> None:
    async def run() -> list[Any]:
        store = server.async_store()
        return await asyncio.gather(
            store.aput(("a",), "k", value),
            store.aput(("a",), "l", {"v": 1}),
            store.asearch(("a",), filter={"when": NOW}),
            store.aput(("a",), "m", {}, ttl=float("inf")),
            return_exceptions=True,
        )

    server = Server()
    wrong, put, search, endless = asyncio.run(run())
    with pytest.raises(error, match=said):
        raise wrong
    assert put is None
    assert str(search) == "filter.when is of type datetime, which is no JSON."
    assert str(endless) == "ttl is inf, which is not JSON compliant."
    assert [one["value"] for one in server.operations] == [{"v": 1}]


ASKING: dict[str, Op] = {
    "get": GetOp(("a",), "k"),
    "search": SearchOp(("a",)),
    "namespaces": ListNamespacesOp(),
    "put": PutOp(("a",), "k", {}),
}
NOTHING: dict[str, Any] = {"get": None, "search": [], "namespaces": [], "put": None}
ODD = [None, 3, "x", [], {}, {"x": 1}, [1], [None], item() | {"value": 3}, item() | {"updated_at": "soon"}]


@pytest.mark.parametrize(
    ("op", "told"), [(op, told) for op in ASKING for told in ODD if told != NOTHING[op]], ids=str
)
def test_what_strata_does_not_answer_to_an_operation_is_no_answer(op: str, told: Any) -> None:
    with pytest.raises(InvalidAnswer):
        Server(lambda _: told).store().batch([ASKING[op]])


def results(told: Any) -> Callable[[httpx.Request], httpx.Response]:
    return lambda _request: httpx.Response(200, json={"results": told})


@pytest.mark.parametrize("told", [[], [None] * 3, None, {}])
def test_a_put_without_an_answer_of_its_own_is_not_taken_for_kept(told: Any) -> None:
    client = StrataClient("http://strata", "key", transport=httpx.MockTransport(results(told)))
    with pytest.raises(InvalidAnswer):
        StrataStore(client).batch([PutOp(("a",), "k", {}), PutOp(("a",), "l", {})])


def test_an_answer_nested_beyond_all_measure_is_none() -> None:
    deep = b'{"results": [' + b"[" * 200_000 + b"]" * 200_000 + b"]}"
    headers = {"Content-Type": "application/json"}
    client = StrataClient(
        "http://strata",
        "key",
        transport=httpx.MockTransport(lambda _: httpx.Response(200, content=deep, headers=headers)),
    )
    with pytest.raises(InvalidAnswer):
        StrataStore(client).get(("a",), "k")


def test_moments_are_read_as_they_were_told() -> None:
    found = Server(lambda _: item()).store().get(("a", "b"), "k")
    assert found is not None
    assert (found.created_at.isoformat(), found.updated_at.tzinfo) == (AT, UTC)


def test_what_asks_for_more_than_one_request_may_goes_in_several() -> None:
    wires = [{"op": "search", "limit": 1_000}] * 250
    assert [len(one) for one in requests(wires)] == [100, 100, 50]
