"""The live events of a tenant, one after the other, for as long as somebody listens.

The server's main address answers what has happened and names, in a `Link`, where a stream stays open. When a
connection ends, the next one goes on behind the last event: none is lost, and none comes twice.
"""

import asyncio
import json
import random
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import TypeVar
from urllib.parse import urlencode, urljoin, urlsplit

import httpx

from .errors import DeadlineExceeded, InvalidAnswer, StrataError
from .frames import Frame, Frames
from .models.sessions import Event
from .portal import portal
from .retrying import LONGEST_WAIT, is_temporary
from .transport import Transport

T = TypeVar("T")
PATH = "/api/v1/events/stream"
MEDIA_TYPE = "text/event-stream"
SILENCE = 90.0  # seconds after which a connection without even a ping is taken for dead
REMEMBERED = 1_000  # cursors of events that were passed on


class LiveEvent(Event):
    """An event of a session's log, and whose it is. With `cursor` as `after`, a stream goes on behind it."""

    session_id: str
    namespace: str = ""
    user_id: str | None = None
    agent_id: str | None = None
    project: str | None = None
    cursor: str


class EventStream:
    """A stream that takes itself up again. `patience`: seconds without the server until it gives up."""

    def __init__(
        self,
        transport: Transport,
        *,
        query: Mapping[str, str | Sequence[str] | None],
        after: str | None,
        timeout: float,
        patience: float,
    ) -> None:
        self._transport, self._timeout, self._patience = transport, timeout, patience
        named = {name: value for name, value in query.items() if value is not None}
        self._query = urlencode(named, doseq=True)
        self._main = self._address = transport.url + PATH
        self._after = after
        self._wait = 1.0
        self._passed: deque[str] = deque(maxlen=REMEMBERED)

    async def events(self) -> AsyncGenerator[LiveEvent, None]:
        """Without end. Raises Refused, InvalidAnswer, or what the last attempt raised after `patience`."""
        clock = asyncio.get_running_loop().time
        seen, failures = clock(), 0
        while True:
            asked = self._address
            try:
                async with aclosing(self._connection()) as events:
                    async for event in events:
                        seen, failures = clock(), 0
                        if event is not None:
                            yield event
            except StrataError as error:
                failures += 1
                if asked != self._main:
                    self._address = self._main
                elif self._after is None or not _may_pass(error) or clock() - seen > self._patience:
                    raise  # before there was a position, nothing could be taken up again
            await asyncio.sleep(self._pause(failures, has_moved=self._address != asked))

    def _pause(self, failures: int, *, has_moved: bool) -> float:
        if not failures:
            return 0.0 if has_moved else self._wait
        longest: float = min(LONGEST_WAIT, self._wait * 2 ** min(failures - 1, 5))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311

    async def _connection(self) -> AsyncGenerator[LiveEvent | None, None]:
        """What one connection brings; None for a sign of life."""
        headers = {"Accept": MEDIA_TYPE, "Cache-Control": "no-store"}
        if self._after is not None:
            headers["Last-Event-ID"] = self._after
        frames = Frames(self._after or "")
        url = self._address + (f"?{self._query}" if self._query else "")
        async with AsyncExitStack() as stack:
            opened = stack.enter_async_context(self._transport.stream(url, headers))
            response = await _within(opened, self._timeout)
            self._look_at(response)
            parts = response.aiter_bytes()
            while (part := await _within(_next(parts), SILENCE)) is not None:
                yield None
                for frame in frames.feed(part):
                    if (event := self._event(frame)) is not None:
                        yield event
                self._after = frames.last_id or self._after
                self._wait = self._wait if frames.retry is None else min(LONGEST_WAIT, frames.retry)

    def _look_at(self, response: httpx.Response) -> None:
        """Whether it is a stream, and where the one is that stays open."""
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() != MEDIA_TYPE:
            raise InvalidAnswer("The answer is no stream of events.", status=response.status_code)
        link = response.links.get("alternate", {}).get("url")
        if link is not None and self._address == self._main:
            self._address = self._trusted(link)

    def _trusted(self, link: str) -> str:
        """The key goes to the host that it is for, on whatever port, and never from TLS to plain text."""
        try:
            url = urljoin(self._main, link)
            ours, theirs = urlsplit(self._main), urlsplit(url)
        except ValueError:  # half of an IPv6 address
            return self._main
        is_safe = theirs.scheme in {ours.scheme, "https"}
        return url if ours.hostname == theirs.hostname and is_safe else self._main

    def _event(self, frame: Frame) -> LiveEvent | None:
        if frame.data is None or frame.id in self._passed:
            return None
        try:
            event = LiveEvent.model_validate({**json.loads(frame.data), "cursor": frame.id})
        except (ValueError, TypeError, RecursionError):
            raise InvalidAnswer("What the stream brought is no event.") from None
        self._passed.append(frame.id)
        self._after = frame.id
        return event


def _may_pass(error: StrataError) -> bool:
    return is_temporary(error) or isinstance(error, DeadlineExceeded)


async def _next(parts: AsyncIterator[bytes]) -> bytes | None:
    return await anext(parts, None)


async def _within(work: Awaitable[T], limit: float) -> T:
    try:
        async with asyncio.timeout(limit):
            return await work
    except TimeoutError:
        raise DeadlineExceeded(limit) from None


def waited_for(events: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """The same for a caller who does not await; ends the stream when that one stops."""
    alone = asyncio.Lock()  # a wait that was interrupted is still being cancelled when the stream is to end
    running = portal()

    async def ahead() -> T | None:
        async with alone:
            return await anext(events, None)

    async def end() -> None:
        async with alone:
            await events.aclose()

    try:
        while (event := running.run(ahead())) is not None:
            yield event
    finally:
        running.leave(end)
