"""The protocol over standard input and output, for a client that starts this process."""

import asyncio
import contextlib
import os
import secrets
import signal
import threading
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
from django.conf import settings
from django.db import close_old_connections
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from api.mcp.connection import Connection
from api.mcp.server import make_server
from tenants import log_context

LAST_ANSWERS_SECONDS = 10
Message = SessionMessage | Exception
T = TypeVar("T")


def serve(connect: Callable[[], Connection]) -> None:
    """Serves until the input ends or SIGTERM or SIGINT comes; what has been asked by then is still answered.
    `connect` is called anew for each request: a key that is revoked meanwhile reaches nothing more."""
    asyncio.run(_serve(connect))


async def _serve(connect: Callable[[], Connection]) -> None:
    threads = anyio.CapacityLimiter(settings.DATABASE_POOL_SIZE)

    async def run(work: Callable[[], T]) -> T:
        return await anyio.to_thread.run_sync(in_thread, work, limiter=threads)

    def connect_and_tell() -> Connection:
        connection = connect()
        log_context.bind_caller(connection.caller)
        return connection

    server = make_server(connect=connect_and_tell, run=run)
    # Its own reader could not be stopped while the client is silent.
    async with stdio_server(stdin=_input()) as (incoming, outgoing):  # type: ignore[arg-type]
        unanswered = Unanswered()
        await server.run(
            Asked(incoming, unanswered),
            Answered(outgoing, unanswered),
            server.create_initialization_options(),
        )


def in_thread(work: Callable[[], T]) -> T:
    """What the work answers, done in this thread as a request of its own."""
    try:
        with log_context.bound(request_id=secrets.token_hex(16)):
            return work()
    finally:
        close_old_connections()  # the thread may wait for long; others need the pool's few


async def _input() -> AsyncIterator[str]:
    """The lines of standard input, until it ends or a signal comes.

    Read by a daemon thread: nothing can wake one that waits for a pipe, and it must not keep the process.
    """
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(OSError, RuntimeError), os.fdopen(0, "rb", closefd=False) as source:
            for line in source:
                loop.call_soon_threadsafe(lines.put_nowait, line)
            loop.call_soon_threadsafe(lines.put_nowait, None)  # RuntimeError: the loop has ended before

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, lines.put_nowait, None)
    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line.decode(errors="replace")


class Unanswered:
    """The requests that the client still waits for."""

    def __init__(self) -> None:
        self._ids: set[str | int] = set()
        self._none = anyio.Event()

    def note(self, message: object) -> None:
        """Takes account of a message, whoever sent it."""
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._ids.discard(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._ids.discard((message.params or {}).get("requestId", ""))
        if not self._ids:
            self._none.set()

    async def wait(self) -> None:
        """Until there are none, or it takes too long."""
        with anyio.move_on_after(LAST_ANSWERS_SECONDS):
            while self._ids:
                self._none = anyio.Event()
                await self._none.wait()


class _Stream:
    """A stream of the SDK's with an eye on what passes."""

    def __init__(self, inner: Any, unanswered: Unanswered) -> None:
        self._inner, self._unanswered = inner, unanswered

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()


class Asked(_Stream):
    """What the client sends. It ends when all is answered: at its end, the SDK gives up what is not."""

    async def receive(self) -> Message:
        try:
            item: Message = await self._inner.receive()
        except anyio.EndOfStream:
            await self._unanswered.wait()
            raise
        self._unanswered.note(getattr(item, "message", None))
        return item

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


class Answered(_Stream):
    """What the client is sent."""

    async def send(self, item: SessionMessage, /) -> None:
        await self._inner.send(item)
        self._unanswered.note(item.message)
