"""A memory on a server that answers otherwise than it should, or not at all."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from strata_memory.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    Forbidden,
    InvalidAnswer,
    Unauthenticated,
)
from strata_memory.kaos import LocalMemory, Memory, RemoteMemory

Answering = Callable[[httpx.Request], Any]
JSON = {"Content-Type": "application/json"}


def _memory(answer: Answering, **options: Any) -> RemoteMemory:
    transport = httpx.MockTransport(answer)
    return RemoteMemory("http://strata", "mem_1_x", transport=transport, **options)


def _away(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


async def _silent(request: httpx.Request) -> httpx.Response:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits that long")


def test_a_server_that_is_away_is_an_error() -> None:
    with pytest.raises(ConnectionFailed):
        asyncio.run(_memory(_away, retries=0).list_sessions())


def test_a_server_that_says_nothing_is_left_at_the_deadline() -> None:
    with pytest.raises(DeadlineExceeded):
        asyncio.run(_memory(_silent, timeout=0.05).add_event("s", "user_message", "Hello"))


def test_what_is_no_answer_of_these_routes_is_an_error() -> None:
    def page(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"hello": "world"})

    async def scenario(memory: RemoteMemory) -> None:
        for work in (memory.get_session_events("s"), memory.get_session("s"), memory.get_memory_stats()):
            with pytest.raises(InvalidAnswer):
                await work

    asyncio.run(scenario(_memory(page)))


DEEP = b'{"events": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
EVENT = {"event_id": "e", "timestamp": "soon", "event_type": "error", "content": 1, "metadata": {}}


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda memory: memory.get_session_events("s"), DEEP),
        (lambda memory: memory.get_session_events("s"), {"events": [1]}),
        (lambda memory: memory.get_session_events("s"), {"events": [EVENT]}),
        (lambda memory: memory.get_session("s"), DEEP),
        (lambda memory: memory.list_sessions(), {"sessions": 3}),
        (lambda memory: memory.list_sessions(), {"sessions": "abc"}),
        (lambda memory: memory.cleanup_old_sessions(), {"removed": "x"}),
        (lambda memory: memory.add_event("s", "error", "no"), {"added": 3}),
        (lambda memory: memory.delete_session("s"), {"deleted": None}),
        (lambda memory: memory.create_session("agent", "ana"), {"session_id": None}),
        (lambda memory: memory.get_memory_stats(), {"total_sessions": [], "total_events": 1}),
    ],
)
def test_an_answer_of_another_shape_is_none(ask: Callable[[RemoteMemory], Any], told: Any) -> None:
    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=told if told is DEEP else json.dumps(told).encode(), headers=JSON)

    with pytest.raises(InvalidAnswer):
        asyncio.run(ask(_memory(answer)))
    asyncio.run(ask(_memory(answer, on_error="drop")))


def test_an_event_comes_back_as_deep_as_the_server_takes_one() -> None:
    content: Any = 1
    for _level in range(100):
        content = [content]
    event = {**EVENT, "timestamp": "2026-01-01T00:00:00+00:00", "content": content}

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"events": [event]})

    (found,) = asyncio.run(_memory(answer).get_session_events("s"))
    assert found.content == content


def test_an_agent_may_go_on_without_a_memory_that_is_away() -> None:
    asked = []

    def away(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return _away(request)

    async def scenario() -> None:
        memory = _memory(away, retries=0, on_error="drop")
        assert await memory.create_session("agent", "ana", "s") == "s"
        assert await memory.add_event("s", "user_message", "Hello") is False
        assert await memory.get_session("s") is None
        assert await memory.get_session_events("s") == []
        assert await memory.list_sessions() == []
        assert await memory.delete_session("s") is False
        assert await memory.cleanup_old_sessions() == 0
        assert (await memory.get_memory_stats())["total_sessions"] == 0

    asyncio.run(scenario())
    assert len(asked) == 1  # it is not tried again at once


@pytest.mark.parametrize("status", [400, 409, 413, 422, 423])
def test_what_the_server_does_not_take_is_dropped_alone(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    asked = []

    def refuse_once(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if len(asked) == 1:
            return httpx.Response(status, json={"detail": "Not that."})
        return httpx.Response(200, json={"added": True})

    async def scenario() -> list[bool]:
        memory = _memory(refuse_once, on_error="drop")
        return [await memory.add_event("s", "tool_result", text) for text in ("x\0", "y")]

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(scenario()) == [False, True]
    assert "is dropped" in caplog.text
    assert "Not that." in caplog.text
    assert "No session" not in caplog.text


@pytest.mark.parametrize("status", [404, 405, 406, 410, 418, 501])
def test_where_something_else_answers_an_agent_goes_on_and_leaves_it_alone(status: int) -> None:
    asked = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, text="404 page not found")

    async def scenario() -> None:
        memory = _memory(elsewhere, on_error="drop")
        assert await memory.get_session("s") is None
        assert await memory.create_session("agent", "ana", "s") == "s"
        assert await memory.add_event("s", "user_message", "Hello") is False

    asyncio.run(scenario())
    assert len(asked) == 1


def test_only_strata_says_that_there_is_no_such_session() -> None:
    async def ask(answer: httpx.Response) -> list[Any]:
        memory = _memory(lambda _request: answer)
        return [await memory.get_session("s"), await memory.get_session_events("s")]

    assert asyncio.run(ask(httpx.Response(404, json={"detail": "No."}))) == [None, []]
    with pytest.raises(InvalidAnswer):
        asyncio.run(ask(httpx.Response(404, text="404 page not found")))


def test_a_404_of_the_server_is_dropped_alone() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        is_list = request.url.path == "/memory/sessions"
        return httpx.Response(200 if is_list else 404, json={"sessions": ["s"], "detail": "Not found."})

    async def scenario(memory: RemoteMemory) -> list[Any]:
        return [await memory.delete_session("s"), await memory.list_sessions()]

    assert asyncio.run(scenario(_memory(answer, on_error="drop"))) == [False, ["s"]]


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        (b"\x89PNG", "iVBORw=="),
        ({"page": [b"\xff"]}, {"page": ["_w=="]}),
        ("half \ud83d", "half \ufffd"),
        ({"\ud83d": ("a\ude00", 1)}, {"\ufffd": ["a\ufffd", 1]}),
        ("two halves: \ud83d\ude00, \ud83d", "two halves: \U0001f600, \ufffd"),
    ],
)
def test_what_is_no_text_is_told_as_text(content: Any, sent: Any) -> None:
    asked: list[bytes] = []

    def note(request: httpx.Request) -> httpx.Response:
        asked.append(request.content)
        return httpx.Response(200, json={"added": True})

    assert asyncio.run(_memory(note).add_event("s", "tool_result", content, {"of": content}))
    told = json.loads(asked[0])
    assert (told["content"], told["metadata"]) == (sent, {"of": sent})


@pytest.mark.parametrize("key", ["", "\ud83d"])
def test_content_that_contains_itself_is_dropped_or_told(key: str) -> None:
    content: dict[str, Any] = {key: 1}
    content["again"] = [content]
    asked: list[httpx.Request] = []

    async def add(**options: Any) -> bool:
        memory = _memory(asked.append, **options)
        return await memory.add_event("s", "tool_result", content)

    assert asyncio.run(add(on_error="drop")) is False
    with pytest.raises(ValueError, match=r"ircular|contains itself"):
        asyncio.run(add())
    assert asked == []


@pytest.mark.parametrize(("status", "error"), [(401, Unauthenticated), (403, Forbidden)])
def test_a_wrong_key_is_told_in_any_case(status: int, error: type[Exception]) -> None:
    def refuse(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json={"detail": "Not with this key."})

    with pytest.raises(error):
        asyncio.run(_memory(refuse, on_error="drop").list_sessions())


def test_no_session_has_an_empty_id() -> None:
    async def scenario(memory: Memory) -> list[Any]:
        return [
            await memory.get_session(""),
            await memory.get_session_events(""),
            await memory.add_event("", "error", "no"),
            await memory.delete_session(""),
        ]

    told = [asyncio.run(scenario(memory)) for memory in (_memory(_away), LocalMemory())]
    assert told == [[None, [], False, False]] * 2


def test_no_event_at_all_is_an_error_in_a_session_and_nothing_without_one() -> None:
    session = {
        "session_id": "s", "user_id": "ana", "app_name": "agent", "events": [],
        "created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00",
    }  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.method == "GET"
        known = request.url.path.endswith("/s")
        return httpx.Response(200 if known else 404, json=session)

    assert asyncio.run(_memory(answer).add_event("nobody", None)) is False
    with pytest.raises(TypeError, match="event type"):
        asyncio.run(_memory(answer).add_event("s", None))


def test_an_event_that_is_sent_again_is_the_same_event() -> None:
    sent: list[bytes] = []

    def first_busy(request: httpx.Request) -> httpx.Response:
        sent.append(request.content)
        if len(sent) == 1:
            return httpx.Response(503, headers={"Retry-After": "0"})
        return httpx.Response(200, json={"added": True})

    async def scenario() -> bool:
        return await _memory(first_busy).add_event("a/b.c", "tool_result", {"seen": {1}, "at": float("nan")})

    assert asyncio.run(scenario())
    assert sent[0] == sent[1]
    assert json.loads(sent[0])["content"] == {"seen": [1], "at": None}


@pytest.mark.parametrize(
    ("begin", "told", "has_key"),
    [
        (lambda memory: memory.create_session("agent", "ana"), {"session_id": "s"}, True),
        (lambda memory: memory.get_or_create_session("s"), {"session_id": "s"}, False),  # it finds it
        (lambda memory: memory.delete_session("s"), {"deleted": True}, True),
        (lambda memory: memory.cleanup_old_sessions(), {"removed": 1}, True),
    ],
)
def test_what_would_not_be_the_same_twice_is_known_by_its_key(
    begin: Callable[[RemoteMemory], Any], told: Any, has_key: bool
) -> None:
    sent: list[httpx.Request] = []

    def first_lost(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if len(sent) == 1:
            raise httpx.ReadError("lost", request=request)
        return httpx.Response(200, json=told)

    asyncio.run(begin(_memory(first_lost)))
    first, second = ((one.headers.get("Idempotency-Key"), one.content) for one in sent)
    assert first == second
    assert (first[0] is not None) == has_key


def test_any_id_of_a_session_stays_in_its_place_of_the_path() -> None:
    paths = []

    def note(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path.decode())
        return httpx.Response(200, json={"events": []})

    asyncio.run(_memory(note).get_session_events("../a b?c", ["error", "tool_call"]))

    assert paths == ["/memory/sessions/%2E%2E%2Fa%20b%3Fc/events?event_types=error&event_types=tool_call"]


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("planner", "planner"),
        ("plänner 計画", "pl%C3%A4nner%20%E8%A8%88%E7%94%BB"),
        ("50%25 off", "50%2525%20off"),
        (" a/b\r\nX-Agent: c\t", "%20a%2Fb%0D%0AX-Agent%3A%20c%09"),
    ],
)
def test_any_name_of_an_agent_is_one_header_in_ascii(name: str, header: str) -> None:
    sent = []

    def note(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers.get_list("X-Agent"))
        return httpx.Response(200, json={"sessions": []})

    asyncio.run(_memory(note, agent_name=name).list_sessions())
    assert sent == [[header]]


def test_an_unknown_way_of_failing_is_refused() -> None:
    with pytest.raises(ValueError, match="on_error"):
        RemoteMemory("http://strata", "mem_1_x", on_error="ignore")  # type: ignore[arg-type]
