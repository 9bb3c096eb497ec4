"""Streams of events from servers that cut, move, say nothing, or are left."""

import asyncio
import json
import os
import re
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, get_origin, get_type_hints

import httpx
import pytest
from strata_memory import AsyncStrataClient, StrataClient
from strata_memory.errors import (
    ConnectionFailed,
    DeadlineExceeded,
    InvalidAnswer,
    StrataError,
    Unauthenticated,
)

from sdk.tests.clients import KEY, LISTENING
from sdk.tests.clock import hurried
from sdk.tests.scripts import began, told
from sdk.tests.sockets import HEAD, answering, closed_port, dribbling, serving, silent

OPEN = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
Listen = Callable[..., list[Any]]


def frame(number: int) -> bytes:
    event = {
        "event_id": None, "seq": number, "event_type": "note", "role": None, "content": number,
        "metadata": {}, "timestamp": "2026-01-01T00:00:00Z", "session_id": "s",
    }  # fmt: skip
    return f"id: {number}\nevent: note\ndata: {json.dumps(event)}\n\n".encode()


def stream(*numbers: int, link: str = "", more: str = "") -> bytes:
    """An answer that ends with its connection; `more` are further headers."""
    head = OPEN + more + (f'Link: <{link}>; rel="alternate"\r\n' if link else "")
    return f"{head}\r\nretry: 1\nid: 0\n\n".encode() + b"".join(map(frame, numbers))


def in_order(*answers: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Answers one after the other, and says nothing then."""
    left = list(answers)

    def behave(connection: socket.socket, over: threading.Event) -> None:
        if left:
            connection.sendall(left.pop(0))
        else:
            over.wait()

    return behave


def resumed_at(request: bytes) -> int | None:
    found = re.search(rb"last-event-id: (\d+)", request, re.IGNORECASE)
    return int(found[1]) if found else None


def contents(events: list[Any]) -> list[Any]:
    return [one.content for one in events]


def after(count: int) -> Callable[[list[Any]], bool]:
    return lambda found: len(found) == count


@pytest.mark.parametrize("listen", LISTENING)
@pytest.mark.parametrize("length", ["", "Content-Length: 1000000\r\n"])
@pytest.mark.parametrize("end", ["id: 2", "id: 2\n", '"content": ', '"session_id": "s"}\n', "id: 3\n"])
def test_a_stream_that_is_cut_goes_on_behind_the_last_whole_event(
    listen: Listen, length: str, end: str
) -> None:
    """Where the answer tells no length, an end in the middle of an event looks like one in good order."""
    rest = frame(2) + frame(3)
    first = stream(1, more=length) + rest[: rest.index(end.encode()) + len(end)]
    resumed = 2 if end == "id: 3\n" else 1
    with serving(in_order(first, stream(*range(resumed + 1, 4)))) as (url, requests):
        assert contents(listen(url, after(3))) == [1, 2, 3]
    assert [resumed_at(one) for one in requests] == [None, resumed]


@pytest.mark.parametrize("listen", LISTENING)
def test_an_event_that_comes_again_is_passed_on_once(listen: Listen) -> None:
    with serving(in_order(stream(1, 2), stream(1, 2), stream(2, 3))) as (url, _requests):
        assert contents(listen(url, after(3))) == [1, 2, 3]


@pytest.mark.parametrize("listen", LISTENING)
def test_a_stream_moves_to_where_it_stays_open_and_comes_back_when_that_is_gone(listen: Listen) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    with (
        serving(in_order(stream(2), busy)) as (elsewhere, there),
        serving(in_order(stream(1, link=f"{elsewhere}/open"), stream(3))) as (url, here),
    ):
        assert contents(listen(url, after(3), session_id="s", after="0")) == [1, 2, 3]
    assert [resumed_at(one) for one in here] == [0, 2]
    assert [resumed_at(one) for one in there] == [1, 2]
    assert all(one.startswith(b"GET /open?session_id=s ") and KEY.encode() in one for one in there)


@pytest.mark.parametrize("listen", LISTENING)
def test_where_a_cut_comes_with_an_address_the_stream_goes_on_there(listen: Listen) -> None:
    with serving(in_order(stream(2))) as (elsewhere, _there):
        cut = stream(1, link=elsewhere, more="Content-Length: 1000000\r\n")
        with serving(in_order(cut)) as (url, here):
            assert contents(listen(url, after(2))) == [1, 2]
            assert len(here) == 1


@pytest.mark.parametrize("listen", LISTENING)
def test_the_key_does_not_follow_a_link_to_another_host(listen: Listen) -> None:
    with serving(in_order(stream(2))) as (elsewhere, there):
        link = elsewhere.replace("127.0.0.1", "localhost")
        with serving(in_order(stream(1, link=link), stream(2, link=link))) as (url, here):
            assert contents(listen(url, after(2))) == [1, 2]
            assert (len(here), there) == (2, [])


@pytest.mark.parametrize("listen", LISTENING)
@pytest.mark.parametrize("link", ["http://[bad", "http://h:port/", "//[::1"])
def test_a_link_that_leads_nowhere_is_not_followed(listen: Listen, link: str) -> None:
    with serving(in_order(stream(1, link=link), stream(2))) as (url, here):
        assert contents(listen(url, after(2))) == [1, 2]
        assert len(here) == 2


def test_no_server_can_put_off_the_next_connection_for_long() -> None:
    later = stream(1).partition(b"\r\n\r\n")[2].replace(b"retry: 1\n", b"retry: 3600000\n")

    def answer(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=later)

    async def listen() -> None:
        asked: list[httpx.Request] = []
        transport = httpx.MockTransport(lambda request: (asked.append(request), answer(request))[1])
        events = AsyncStrataClient("http://strata", transport=transport).stream()
        assert (await anext(events)).content == 1
        waiting = asyncio.ensure_future(anext(events))
        while len(asked) < 2:
            await asyncio.sleep(0.5)
        waiting.cancel()

    error, passed = hurried(listen())
    assert error is None
    assert passed < 7


FIRST = {
    "silent": (silent, DeadlineExceeded),
    "headers": (dribbling(OPEN.encode() + b"X-Long: ", b"a"), DeadlineExceeded),
    "another answer": (answering(HEAD + b"Content-Length: 2\r\n\r\n{}"), InvalidAnswer),
    "cut": (answering(b"HTTP/1.1 200"), ConnectionFailed),
    "no key": (answering(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), Unauthenticated),
    "no event": (answering(OPEN.encode() + b"\r\nid: 1\ndata: {}\n\n"), InvalidAnswer),
}


@pytest.mark.parametrize("listen", LISTENING)
@pytest.mark.parametrize("kind", FIRST)
def test_a_first_contact_that_fails_is_told(listen: Listen, kind: str) -> None:
    behave, error = FIRST[kind]
    timeout = 0.3 if error is DeadlineExceeded else 600
    with serving(behave) as (url, _requests), pytest.raises(error):
        listen(url, after(1), timeout=timeout)


@pytest.mark.parametrize("listen", LISTENING)
def test_who_resumes_waits_for_the_server_as_long_as_they_have_patience(listen: Listen) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    with serving(in_order(busy, stream(1))) as (url, _requests):
        assert contents(listen(url, after(1), after="0")) == [1]
    with pytest.raises(ConnectionFailed):
        listen(closed_port(), after(1), after="0", patience=0)


LISTENS = """
import asyncio, signal, sys
from strata_memory import AsyncStrataClient, StrataClient

signal.signal(signal.SIGINT, signal.default_int_handler)

def blocking():
    for event in StrataClient(sys.argv[1]).stream():
        print(event.content, flush=True)

async def asynchronous():
    async for event in AsyncStrataClient(sys.argv[1]).stream():
        print(event.content, flush=True)

try:
    blocking() if sys.argv[2] == "blocking" else asyncio.run(asynchronous())
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
def test_an_interrupt_ends_a_stream_that_waits_and_its_connection(kind: str) -> None:
    left = threading.Event()

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(stream(1))
        if connection.recv(1) == b"":
            left.set()

    with serving(behave) as (url, _requests):
        process = began(LISTENS, url, kind)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "1\n"
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            assert left.wait(600)  # while the process goes on
            process.stdin.close()
            assert process.wait(600) == 0
        finally:
            process.kill()
            process.wait()


UNFINISHED = """
import gc, sys
from strata_memory import StrataClient
from strata_memory.portal import portal

events = StrataClient(sys.argv[1]).stream(after="0")
print(next(events).content, flush=True)
"""
COLLECTED = """
class Cycle:
    pass

async def collect():
    gc.collect()

one = Cycle()
one.itself, one.events = one, events
del one, events
portal().run(collect())
print("collected", flush=True)
sys.stdin.read()
"""


def held(connection: socket.socket, over: threading.Event) -> None:
    """A stream with one event, that stays open."""
    connection.sendall(stream(1))
    over.wait()


def test_an_unfinished_stream_does_not_hold_a_process_at_its_end() -> None:
    with serving(held) as (url, _requests):
        assert told(UNFINISHED, url) == ["1", "status 0"]


def test_a_stream_that_is_collected_on_the_thread_of_the_calls_ends_there() -> None:
    left = threading.Event()

    def behave(connection: socket.socket, _over: threading.Event) -> None:
        connection.sendall(stream(1))
        if connection.recv(1) == b"":
            left.set()

    with serving(behave) as (url, _requests):
        process = began(UNFINISHED + COLLECTED, url)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "1\n"
            assert left.wait(60)  # while the process goes on
            assert process.stdout.readline() == "collected\n"
            process.stdin.close()
            assert process.wait(600) == 0
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("listens", [True, False])
def test_a_stream_goes_on_where_it_was_begun_whatever_a_fork_does_with_it(listens: bool) -> None:
    forked = threading.Event()

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(stream(1))
        forked.wait(600)
        connection.sendall(frame(2))
        over.wait()

    with serving(behave) as (url, requests), StrataClient(url, KEY, timeout=600) as client:
        events = client.stream(after="0")
        assert next(events).content == 1
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.alarm(120)
                if listens:
                    with pytest.raises(StrataError, match="fork"):
                        next(events)
                events.close()
                status = 0
            finally:
                os._exit(status)
        ended = os.waitpid(child, 0)[1]
        forked.set()
        assert os.waitstatus_to_exitcode(ended) == 0
        assert next(events).content == 2
        events.close()
        assert len(requests) == 1


def test_a_stream_may_be_closed_as_far_as_types_go() -> None:
    assert get_origin(get_type_hints(StrataClient.stream)["return"]) is Generator
    assert get_origin(get_type_hints(AsyncStrataClient.stream)["return"]) is AsyncGenerator
