"""The ASGI application: one coroutine for each stream."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

from django.db import Error
from django.http import HttpRequest, HttpResponse

from api.native import frames
from memoryproject.streaming.credentials import credentials_of
from memoryproject.streaming.hub import Hub
from memoryproject.streaming.listener import Listener
from memoryproject.streaming.metrics import SENT
from memoryproject.streaming.places import Take
from memoryproject.streaming.requests import Accepted, answer, request_of
from memoryproject.streaming.threads import in_thread
from tenants.errors import Unavailable
from working.live import Page
from working.live_types import Position

PING_SECONDS = 15.0
FAREWELL_SECONDS = 1.0
SEND_SECONDS = 60.0  # for a frame, which may have a megabyte and more
BUNDLE = 1 << 16  # bytes of frames that are sent together
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
log = logging.getLogger(__name__)


class Application:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise NotImplementedError("Here are live events over HTTP alone.")
        with self._hub.places.one() as take:
            await self._answer(request_of(scope), take, receive, send)

    async def _answer(self, request: HttpRequest, take: Take, receive: Receive, send: Send) -> None:
        response = await in_thread(answer, request, take)
        assert isinstance(response, HttpResponse)  # noqa: S101  none of the two routes streams by Django's means
        start = {"status": response.status_code, "headers": _headers(response)}
        await send({"type": "http.response.start", **start})
        if isinstance(response, Accepted) and request.method == "GET":
            await self._stream(request, response, receive, send)
        else:
            body = b"" if request.method == "HEAD" else response.content
            await send({"type": "http.response.body", "body": body})

    async def _stream(self, request: HttpRequest, begun: Accepted, receive: Receive, send: Send) -> None:
        """Until the client leaves, or the listener is ended."""
        listener = Listener(begun.asked, credentials_of(request))
        self._hub.enter(listener)
        telling = asyncio.create_task(self._tell(listener, begun.page, send))
        left, over = asyncio.create_task(_left(receive)), asyncio.create_task(listener.over.wait())
        try:
            await asyncio.wait({telling, left, over}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.leave(listener)
            for task in (telling, left, over):
                task.cancel()
            await asyncio.gather(telling, left, over, return_exceptions=True)
        log.info("stream ended", extra={"fields": {"reason": listener.reason}})
        with contextlib.suppress(TimeoutError):  # of one who does not read the connection is given up
            async with asyncio.timeout(FAREWELL_SECONDS):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell(self, listener: Listener, page: Page, send: Send) -> None:
        try:
            await self._tell_all(listener, page, send)
        except _Slow:
            listener.end("slow")
        except (Error, Unavailable) as error:  # while it catches up; the client tries again
            log.warning("a stream fails", extra={"fields": {"error": type(error).__name__}})
            listener.end("failed")
        except Exception:  # whatever it is, the client must not wait in vain on a stream that tells nothing
            log.exception("a stream fails")
            listener.end("failed")

    async def _tell_all(self, listener: Listener, page: Page, send: Send) -> None:
        """What there is, page by page, and then what the tail offers. Both are in the same order, so what the
        other has told already is known by its position."""
        asked = listener.asked
        await _write(send, frames.opening(asked.after or page.position))
        position = await self._catch_up(listener, page, send)
        tail = self._hub.follow(listener, position)
        page = await in_thread(asked.read_on, position)  # what the tail had read when it was joined
        position = await self._catch_up(listener, page, send)
        while True:
            waiting = await listener.take(PING_SECONDS)
            fresh = [(at, frame) for at, frame in waiting if at > position]
            if fresh:
                position = fresh[-1][0]
                for bundle in _bundled(frame for _at, frame in fresh):
                    await _write(send, b"".join(bundle), events=len(bundle))
            elif not waiting:
                position = max(position, tail.position)
                await _write(send, frames.ping(position))

    async def _catch_up(self, listener: Listener, page: Page, send: Send) -> Position:
        while True:
            for bundle in _bundled(map(frames.told, page.events)):
                await _write(send, b"".join(bundle), events=len(bundle))
            page.events.clear()  # the request has its first page for as long as it is open
            if not page.more:
                return page.position
            page = await in_thread(listener.asked.read_on, page.position)


class _Slow(Exception):
    """The client does not read what it is sent."""


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _write(send: Send, body: bytes, *, events: int = 0) -> None:
    """Waits while the client does not read. Raises _Slow when it takes too long."""
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await send({"type": "http.response.body", "body": body, "more_body": True})
    except TimeoutError as error:
        raise _Slow from error
    SENT.inc(events)


def _bundled(told: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The frames, small ones together. None is cut in two: who is given up in the middle of one could take it
    for told, since it begins with its id."""
    bundle, size = list[bytes](), 0
    for frame in told:
        bundle.append(frame)
        size += len(frame)
        if size >= BUNDLE:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle


def _headers(response: HttpResponse) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
