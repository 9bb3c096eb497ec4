"""From a WSGI request to the SDK's ASGI transport and back, in the request's own thread.

Each request has an event loop of its own, which stops whenever the domain is to be asked and goes on with
the answer. So the domain runs in no other thread and under no running loop: connections, context variables
and Django's rules are those of any request, and nothing outlives it. One loop for all requests, in a thread
of its own, is no faster (docs/mcp.md), would have to be started after a fork, and one could stall all.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from api.mcp.connection import Connection
from api.mcp.server import Run, make_server

PASSED = ("accept", "content-type")  # and what begins with `mcp-`; whose key it is, the SDK need not know
T = TypeVar("T")


@dataclass(slots=True)
class Answer:
    """What the transport answers."""

    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def answer(connection: Connection, *, headers: Mapping[str, str], body: bytes) -> Answer:
    """The answer to a POST."""
    answered = Answer()
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return unread.pop() if unread else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answered.status = message["status"]
            answered.headers = {name.decode(): value.decode() for name, value in message.get("headers", ())}
        else:
            answered.body += message.get("body", b"")

    async def serve(run: Run) -> None:
        manager = StreamableHTTPSessionManager(
            make_server(connect=lambda: connection, run=run),
            json_response=True,
            stateless=True,
            max_request_body_size=max(len(body), 1),  # its size has been judged already
        )
        async with manager.run():
            await manager.handle_request(_scope(headers), receive, send)

    run_with_pauses(serve)
    return answered


def run_with_pauses(serve: Callable[[Run], Coroutine[Any, Any, None]]) -> None:
    """Runs `serve(run)` in a new event loop. `await run(work)` stops the loop, does the work, goes on."""
    loop = asyncio.new_event_loop()
    waiting: list[tuple[asyncio.Future[Any], Callable[[], Any]]] = []

    async def run(work: Callable[[], T]) -> T:
        future: asyncio.Future[T] = loop.create_future()
        waiting.append((future, work))
        loop.stop()
        return await future

    task = loop.create_task(serve(run))
    task.add_done_callback(lambda _task: loop.stop())
    try:
        while not task.done():
            loop.run_forever()
            while waiting:
                _do(*waiting.pop(0))
        task.result()
    finally:
        if not task.done():  # the work was interrupted, not failed
            task.cancel()
            loop.run_forever()
        loop.close()


def _do(future: asyncio.Future[T], work: Callable[[], T]) -> None:
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001  raised where it is awaited
        future.set_exception(error)


def _scope(headers: Mapping[str, str]) -> dict[str, Any]:
    passed = {name.lower(): value for name, value in headers.items()}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/mcp",
        "query_string": b"",
        "headers": [
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in passed.items()
            if name in PASSED or name.startswith("mcp-")
        ],
    }
