"""What the stores send, and how they read what they are answered. The server is a function."""

import asyncio
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from strata_memory import StrataClient
from strata_memory.errors import DeadlineExceeded, Invalid, Unauthenticated
from strata_memory.langgraph import AsyncStrataStore, StrataStore

from sdk.tests.sockets import answering, serving
from sdk.tests.store_server import AT, Server, item


def lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def test_a_batch_is_one_request_and_its_results_are_in_order() -> None:
    answers = {
        "get": item("one"),
        "search": [item("two", score=0.5)],
        "namespaces": [["a", "b"]],
        "put": None,
    }
    server = Server(lambda operation: answers[operation["op"]])
    put, got, found, namespaces = server.store().batch(
        [PutOp(("a",), "k", {"n": 1}), GetOp(("a", "b"), "one"), SearchOp(("a",)), ListNamespacesOp()]
    )
    assert put is None
    assert (got.key, got.namespace, got.updated_at.isoformat()) == ("one", ("a", "b"), AT)
    assert [(one.key, one.score) for one in found] == [("two", 0.5)]
    assert isinstance(found[0], SearchItem)
    assert namespaces == [("a", "b")]
    (operations,) = server.requests
    assert [one["op"] for one in operations] == ["get", "search", "namespaces", "put"]


def test_an_empty_batch_asks_nothing() -> None:
    server = Server()
    assert server.store().batch([]) == []
    assert server.requests == []


def test_only_what_writes_carries_an_idempotency_key() -> None:
    server = Server()
    server.store().get(("a",), "k")
    server.store().delete(("a",), "k")
    assert server.keys[0] is None
    assert server.keys[1]


def test_items_are_the_clients_users_and_agents_and_a_projects() -> None:
    server = Server()
    client = StrataClient(
        "http://s", "key", user_id="kim", agent_id="bot", transport=httpx.MockTransport(server)
    )
    StrataStore(client, project="docs").get(("a",), "k")
    server.store().get(("a",), "k")
    scope = {"user_id": "kim", "agent_id": "bot", "project": "docs"}
    assert server.operations[0].items() >= scope.items()
    assert not scope.keys() & server.operations[1].keys()


def test_without_a_client_side_model_texts_are_left_to_the_server() -> None:
    server = Server()
    store = server.store(index={"fields": ["title", "body"]})
    store.put(("a",), "k", {"title": "t"})
    store.put(("a",), "k", {"title": "t"}, index=["other"])
    store.put(("a",), "k", {"title": "t"}, index=False)
    store.put(("a",), "k", {"title": "t"}, index=[])
    server.store().put(("a",), "k", {"title": "t"})
    store.search(("a",), query="what")
    *puts, search = server.operations
    assert [put["index"] for put in puts] == [["title", "body"], ["other"], False, False, None]
    assert not any("vectors" in put for put in puts)
    assert search["query"] == "what"
    assert "vector" not in search


def test_a_client_side_model_gives_a_vector_for_each_text() -> None:
    server = Server()
    store = server.store(
        index={"dims": 2, "embed": lengths, "fields": ["title", "parts[*].text"], "distance_type": "l2"}
    )
    store.put(("a",), "k", {"title": "four", "parts": [{"text": "xx"}, {"text": "yyy"}, {}]})
    store.put(("a",), "k", {"parts": [{"text": "xx"}]})
    store.put(("a",), "k", {"title": "four"}, index=False)
    store.search(("a",), query="what")
    store.search(("a",), query="")
    first, second, third, search, empty = server.operations
    assert first["vectors"] == [
        {"path": "title", "vector": [4.0, 1.0]},
        {"path": "parts[*].text.0", "vector": [2.0, 1.0]},
        {"path": "parts[*].text.1", "vector": [3.0, 1.0]},
    ]
    assert [one["path"] for one in second["vectors"]] == ["parts[*].text"]
    assert third["vectors"] == []
    assert (search["vector"], search["distance"]) == ([4.0, 1.0], "l2")
    assert "query" not in search
    assert "vector" not in empty


def test_the_texts_of_a_batch_are_embedded_at_once_and_each_one_once() -> None:
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.append(list(texts))
        return lengths(texts)

    store = Server().store(index={"embed": embed, "fields": ["t"]})
    store.batch(
        [
            PutOp(("a",), "1", {"t": "overwritten"}),
            PutOp(("a",), "1", {"t": "same"}),
            PutOp(("a",), "2", {"t": "same"}),
            SearchOp(("a",), query="same"),
            SearchOp(("a",), query="other"),
        ]
    )
    assert [sorted(texts) for texts in asked] == [["other", "same"]]


def test_of_several_puts_of_an_item_only_the_last_is_sent() -> None:
    server = Server()
    server.store().batch(
        [
            PutOp(("a",), "1", {"n": 1}),
            PutOp(("a",), "2", {"n": 2}),
            PutOp(("a",), "1", None),
            GetOp(("a",), "1"),
        ]
    )
    assert [(one["op"], one["key"]) for one in server.operations] == [
        ("get", "1"),
        ("delete", "1"),
        ("put", "2"),
    ]


@pytest.mark.parametrize(
    ("index", "said"),
    [
        ({"embed": lambda _: [[1.0]], "dims": 2}, "1 dimensions"),
        ({"embed": lambda _: []}, "0 vectors for 1"),
        ({"distance_type": "hamming"}, "hamming"),
        ({"fields": {"title": True}}, "list of paths"),
    ],
)
def test_an_index_that_cannot_be_is_refused(index: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Server().store(index=index).put(("a",), "k", {"t": "x"})


def test_an_asynchronous_model_serves_the_awaited_calls_of_both_stores() -> None:
    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return lengths(texts)

    async def run() -> None:
        await server.store(index={"embed": embed}).asearch(("a",), query="four")
        await server.async_store(index={"embed": embed}).asearch(("a",), query="four")

    server = Server()
    asyncio.run(run())
    assert [one["vector"] for one in server.operations] == [[4.0, 1.0]] * 2


def test_ttls_and_their_refreshing_have_defaults() -> None:
    server = Server()
    store = server.store(ttl={"default_ttl": 5, "refresh_on_read": False})
    store.put(("a",), "k", {})
    store.put(("a",), "k", {}, ttl=0.5)
    store.put(("a",), "k", {}, ttl=None)
    store.get(("a",), "k")
    store.get(("a",), "k", refresh_ttl=True)
    store.search(("a",))
    server.store().search(("a",))
    *puts, get, refreshing, search, plain = server.operations
    assert [put["ttl"] for put in puts] == [5, 0.5, None]
    assert [one["refresh_ttl"] for one in (get, refreshing, search, plain)] == [False, True, False, True]


def test_the_sweeper_has_nothing_to_do() -> None:
    store = Server().store(ttl={"default_ttl": 5})
    assert store.supports_ttl
    assert store.start_ttl_sweeper().result() is None
    assert store.sweep_ttl() == 0
    assert store.stop_ttl_sweeper(timeout=1) is True

    async def run() -> tuple[object, int, bool]:
        store = Server().async_store()
        return (
            await (await store.start_ttl_sweeper()),
            await store.sweep_ttl(),
            await store.stop_ttl_sweeper(),
        )

    assert asyncio.run(run()) == (None, 0, True)


def test_conditions_on_namespaces_are_sent_as_they_are_meant() -> None:
    server = Server()
    store = server.store()
    store.list_namespaces(prefix=("a", "*"), suffix=["z"], max_depth=2, limit=5, offset=3)
    store.batch([ListNamespacesOp((MatchCondition("suffix", "public"), MatchCondition("prefix", ())))])
    first, second = server.operations
    assert first["match_conditions"] == [
        {"match_type": "prefix", "path": ["a", "*"]},
        {"match_type": "suffix", "path": ["z"]},
    ]
    assert (first["max_depth"], first["limit"], first["offset"]) == (2, 5, 3)
    assert second["match_conditions"] == [{"match_type": "suffix", "path": ["public"]}]


def test_more_operations_than_a_request_holds_take_several_reads_first() -> None:
    server = Server()
    ops = [PutOp(("a",), str(n), {"n": n}) for n in range(1_500)] + [GetOp(("a",), "0")]
    assert len(server.store().batch(ops)) == 1_501
    assert [len(request) for request in server.requests] == [1_000, 501]
    assert server.operations[0]["op"] == "get"
    assert [one["value"]["n"] for one in server.operations[1:]] == list(range(1_500))


def test_a_request_is_no_longer_than_the_server_takes() -> None:
    server = Server()
    server.store().batch([PutOp(("a",), str(n), {"text": "x" * 300_000}) for n in range(7)])
    assert [len(request) for request in server.requests] == [2, 2, 2, 1]


def test_a_search_for_more_than_a_page_is_asked_page_by_page() -> None:
    def answer(operation: dict[str, Any]) -> Any:
        if operation["op"] != "search":
            return None
        first, last = operation["offset"], min(operation["offset"] + operation["limit"], 2_300)
        return [item(str(n), score=None) for n in range(first, last)]

    server = Server(answer)
    everything, some, _ = server.store().batch(
        [SearchOp((), limit=10_000), SearchOp((), limit=1_200, offset=100), PutOp(("a",), "k", {})]
    )
    assert [one.key for one in everything] == [str(n) for n in range(2_300)]
    assert [one.key for one in some] == [str(n) for n in range(100, 1_300)]
    assert [len(request) for request in server.requests] == [2, 2, 1, 1]
    assert server.operations[-1]["op"] == "put"


def test_a_search_for_nothing_is_not_sent() -> None:
    server = Server()
    assert server.store().search((), limit=0) == []
    assert server.requests == []


def test_a_namespace_that_langgraph_forbids_is_not_sent() -> None:
    server = Server()
    for op in (GetOp(("a.b",), "k"), PutOp(("a", ""), "k", {}), SearchOp(("a\x00",))):
        with pytest.raises(InvalidNamespaceError):
            server.store().batch([op])
    assert server.requests == []


def test_what_the_server_refuses_is_a_typed_error() -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        return httpx.Response(
            422, json={"detail": "No.", "errors": [{"field": "operations.0", "message": "Bad."}]}
        )

    store = StrataStore(StrataClient("http://strata", "key", transport=httpx.MockTransport(refuse)))
    with pytest.raises(Invalid, match=r"operations\.0: Bad"):
        store.put(("a",), "k", {})


def test_the_deadline_is_that_of_the_whole_batch() -> None:
    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(0.3)
        return server(request)

    server = Server()
    client = StrataClient("http://strata", "key", transport=httpx.MockTransport(slow))
    with pytest.raises(DeadlineExceeded):
        StrataStore(client, timeout=0.5).batch([GetOp(("a",), str(n)) for n in range(5_000)])
    assert len(server.requests) < 5


def test_a_batch_is_split_by_the_bytes_that_are_sent() -> None:
    server = Server()
    puts = [PutOp(("a",), str(number), {"text": "ж" * 60_000}) for number in range(8)]
    server.store().batch(puts)  # 120 kB each, of which seven fit; escaped they would be three times that
    assert [len(request) for request in server.requests] == [7, 1]


def test_calls_of_one_moment_are_one_request() -> None:
    async def run() -> list[Any]:
        store = server.async_store()
        return await asyncio.gather(*(store.aget(("a", "b"), str(n % 7)) for n in range(50)))

    server = Server(lambda operation: item(operation["key"]))
    assert [one.key for one in asyncio.run(run())] == [str(n % 7) for n in range(50)]
    assert [len(request) for request in server.requests] == [7]


def test_blocking_calls_on_the_loop_are_refused_and_serve_other_threads() -> None:
    async def run() -> Any:
        store = server.async_store()
        with pytest.raises(asyncio.InvalidStateError):
            store.get(("a", "b"), "k")
        return await asyncio.to_thread(store.get, ("a", "b"), "k")

    server = Server(lambda operation: item(operation["key"]))
    assert asyncio.run(run()).key == "k"


def test_the_key_is_that_of_the_environment_unless_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"
    monkeypatch.setenv("STRATA_API_KEY", "from-outside")
    with serving(answering(refusal)) as (url, requests):
        for given in (None, "given", ""):
            with StrataStore.from_conn_string(url, api_key=given, ttl={"default_ttl": 1}) as store:
                assert store.ttl_config == {"default_ttl": 1}
                with pytest.raises(Unauthenticated):
                    store.setup()
    assert b"Bearer from-outside" in requests[0]
    assert b"Bearer given" in requests[1]
    assert b"authorization" not in requests[2].lower()


def test_it_takes_the_place_of_langgraphs_own_with_its_arguments() -> None:
    pool: dict[str, Any] = {"pipeline": True, "pool_config": {"max_size": 5}}
    with StrataStore.from_conn_string("http://strata", **pool) as store:
        assert isinstance(store, StrataStore)

    async def run() -> list[Any]:
        async with AsyncStrataStore.from_conn_string("http://strata", **pool) as store:
            assert isinstance(store, AsyncStrataStore)
        async with server.async_store() as own:
            await own.aput(("a",), "k", {})
        return server.operations

    server = Server()
    assert [one["op"] for one in asyncio.run(run())] == ["put"]
