"""The clients in processes, threads and event loops, and at the end of each."""

import asyncio
import gc
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest
from strata_memory import AsyncStrataClient, StrataClient
from strata_memory.errors import ConnectionFailed
from strata_memory.portal import Portal

from sdk.tests.scripts import told
from sdk.tests.sockets import HEAD, answering, closed_port, keeping, serving

STATS = b'{"total_sessions": 1, "total_events": 2, "avg_events_per_session": 2}'
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(STATS), STATS)
ANSWER = answering(WHOLE)


def test_a_client_made_before_a_fork_works_in_the_child() -> None:
    with serving(ANSWER) as (url, _requests):
        client = StrataClient(url, "key")
        assert client.sessions.stats().total_events == 2
        child = os.fork()
        if not child:
            status = 1
            try:
                status = 0 if client.sessions.stats().total_events == 2 else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert client.sessions.stats().total_events == 2


def test_threads_share_a_client() -> None:
    told: list[int] = []
    with serving(ANSWER) as (url, _requests), StrataClient(url, "key") as client:
        threads = [
            threading.Thread(target=lambda: told.append(client.sessions.stats().total_events))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert told == [2] * 8


def test_a_blocking_call_works_where_a_loop_runs() -> None:
    async def caller(url: str) -> int:
        return StrataClient(url, "key").sessions.stats().total_events

    with serving(ANSWER) as (url, _requests):
        assert asyncio.run(caller(url)) == 2


def test_an_asynchronous_client_outlives_a_loop() -> None:
    async def caller(client: AsyncStrataClient) -> int:
        return (await client.sessions.stats()).total_events

    with serving(ANSWER) as (url, _requests):
        client = AsyncStrataClient(url, "key")
        assert [asyncio.run(caller(client)) for _ in range(2)] == [2, 2]


async def asked(client: AsyncStrataClient) -> int:
    return (await client.sessions.stats()).total_events


def test_connections_end_with_their_loop() -> None:
    left = threading.Semaphore(0)
    with serving(keeping(WHOLE, left)) as (url, _requests):
        client = AsyncStrataClient(url, "key")
        for _time in range(3):
            assert asyncio.run(asked(client)) == 2
            assert left.acquire(timeout=60)


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_connections_of_a_loop_that_was_closed_alone_end_when_the_next_one_begins() -> None:
    left = threading.Semaphore(0)
    with serving(keeping(WHOLE, left)) as (url, _requests):
        client = AsyncStrataClient(url, "key")
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(asked(client)) == 2
        loop.close()
        del loop

        async def next_one() -> None:
            assert await asked(client) == 2
            gc.collect()
            assert await asyncio.to_thread(left.acquire, timeout=60)

        asyncio.run(next_one())


def test_a_stream_that_is_left_open_does_not_keep_a_loop_from_ending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    left = threading.Semaphore(0)
    opened = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 1\n\n"

    async def listen(client: AsyncStrataClient) -> None:
        stream = client.stream(after="0")
        waiting = asyncio.ensure_future(anext(stream))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(waiting), 0.1)

    with serving(keeping(opened, left)) as (url, _requests):
        client = AsyncStrataClient(url, "key")
        asyncio.run(listen(client))
        assert left.acquire(timeout=60)
    assert [one for one in caplog.records if one.name == "asyncio"] == []


def test_cancelling_a_call_ends_its_connection() -> None:
    arrived, left = threading.Event(), threading.Event()

    def never(connection: socket.socket, _over: threading.Event) -> None:
        arrived.set()
        if connection.recv(1) == b"":
            left.set()

    async def caller(url: str) -> None:
        client = AsyncStrataClient(url, "key", timeout=600)
        call = asyncio.create_task(client.sessions.stats())
        assert await asyncio.to_thread(arrived.wait, 60)
        call.cancel()
        assert await asyncio.to_thread(left.wait, 60)
        with pytest.raises(asyncio.CancelledError):
            await call

    with serving(never) as (url, _requests):
        asyncio.run(caller(url))


CALLS = """
import atexit, logging, sys
from strata_memory import StrataClient
from strata_memory.errors import StrataError

client = StrataClient(sys.argv[1], retries=0, timeout=600)

def call(when):
    try:
        print(when, client.sessions.stats().total_events)
    except StrataError as error:
        print(when, type(error).__name__, getattr(error, "reached_server", None))
"""
FROM_A_HANDLER = """
class Handler(logging.Handler):
    def emit(self, record):
        call("in a line:")

logging.getLogger("httpx").addHandler(Handler())
logging.getLogger("httpx").setLevel(logging.INFO)
call("outside:")
"""
FROM_ATEXIT = """
call("before:")
atexit.register(call, "at exit:")
"""
FROM_A_FINALIZER = """
class Last:
    def __del__(self):
        call("behind the end:")

last = Last()
last.itself = call, StrataClient  # held by this module alone, until Python takes it down
"""


def test_a_call_from_within_a_call_is_an_error_and_no_deadlock() -> None:
    with serving(ANSWER) as (url, _requests):
        assert told(CALLS + FROM_A_HANDLER, url) == ["in a line: StrataError None", "outside: 2", "status 0"]


def test_a_call_at_the_exit_of_python_works_by_address_and_fails_by_name() -> None:
    with serving(ANSWER) as (url, _requests):
        assert told(CALLS + FROM_ATEXIT, url) == ["before: 2", "at exit: 2", "status 0"]
    away = closed_port().replace("127.0.0.1", "localhost")
    assert told(CALLS + FROM_ATEXIT, away) == [
        "before: ConnectionFailed False",
        "at exit: ConnectionFailed False",
        "status 0",
    ]


@pytest.mark.parametrize("first", ["", 'call("before:")\n'])
def test_a_call_behind_the_end_of_python_is_an_error_and_does_not_hang(first: str) -> None:
    with serving(ANSWER) as (url, _requests):
        lines = told(CALLS + first + FROM_A_FINALIZER, url)
    assert lines[-2:] == ["behind the end: ConnectionFailed False", "status 0"]


def test_where_no_thread_can_start_no_call_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(ConnectionFailed, match="can't start new thread") as raised:
        Portal()
    assert not raised.value.reached_server


def test_an_interrupt_between_beginning_and_waiting_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    portal, began, ended = Portal(), threading.Event(), threading.Event()
    begin = portal._loop.call_soon_threadsafe

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def interrupted(callback: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        begin(callback, *arguments, **named)
        assert began.wait(600)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(portal._loop, "call_soon_threadsafe", interrupted)
    with pytest.raises(KeyboardInterrupt):
        portal.run(work())
    assert ended.wait(60)
