"""How a call goes past what waits in the buffer, and how that is sent: in order, each write once."""

import asyncio
import os
import time
from contextlib import suppress
from functools import partial
from typing import Protocol, TypeAlias

from .buffer import DiskBuffer, Waiting
from .buffer_file import WAIT
from .calls import KEY, Call, Received
from .errors import (
    Buffered,
    BufferFull,
    BufferUnusable,
    Conflict,
    ConnectionFailed,
    DeadlineExceeded,
    InvalidAnswer,
    RateLimited,
    Refused,
    ServerError,
    StrataError,
    Unauthenticated,
)
from .locking import FileLock
from .portal import portal
from .retrying import TEMPORARY
from .threads import in_thread
from .transport import Attempts, Transport

Outcome: TypeAlias = Received | StrataError  # the answer, or why a write is not sent again
AWAY = (ConnectionFailed, DeadlineExceeded, InvalidAnswer, RateLimited, ServerError)  # so a write is kept
MOST_FAILURES = 5  # of one write at a server that is there, after which those behind it have their turn
LOOK = Call(
    "GET", "/api/v1/sessions?limit=1", needs=[["results"]]
)  # tells a failing write from a failing server
DONE_BEFORE = "This was done before"  # how the server begins where it has done a write and kept no answer
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds without looking whether the server is back
POLL = 0.05
GRACE = 0.5  # seconds for a locked file when the time of the call is up: to keep is better than to lose
TOO_OLD = "It may have been done already, and the server does not know it by its key any more."
OF_OTHER_KEY = (
    "It may have been done already under another API key, for which alone the server would know it."
)


class Send(Protocol):
    """Sends a call, for the time of a call and at most until a moment of the loop's clock, and tells
    `attempts` whether it may have arrived."""

    async def __call__(self, call: Call, end: float | None, attempts: Attempts) -> Received: ...


class Replay:
    """The buffer of one server and key. `send` is for what is sent beside the calls."""

    def __init__(self, buffer: DiskBuffer, transport: Transport, send: Send) -> None:
        self.buffer = buffer
        key = transport.key
        self._origin = buffer.origin(transport.url, "" if key is None else key.reveal())
        self._transport, self._send = transport, send
        self._pause, self._paused_until = FIRST_PAUSE, 0.0
        self._beside_in: int | None = None  # the process that sends beside its calls; its forks do not
        self._task: asyncio.Task[None] | None = None  # a loop by itself does not hold its tasks

    async def through(self, call: Call, send: Send, timeout: float) -> Received:
        """The answer to the call. Raises Buffered when it is kept instead, and BufferUnusable for a write."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        if not call.is_write:
            answer = await send(call, end, Attempts())
            with suppress(BufferUnusable):
                if await self._holds(GRACE):
                    self._begin_flush()
            return answer
        waits = await self._holds(_wait(end))
        if call.is_kept:
            return await (self._behind if waits else self._or_keep)(call, send, end)
        if waits:  # it must not overtake
            await self.flush(send, timeout=end - loop.time())
        return await send(call, end, Attempts())

    async def flush(self, send: Send, *, timeout: float | None = None, of_all_keys: bool = False) -> int:
        """Sends what waits, and returns how much was done. Raises what stops it. The lock is held for one
        write at a time, so that nobody waits for another's whole queue."""
        loop, lock, done = asyncio.get_running_loop(), self.buffer.lock(), 0
        end = None if timeout is None else loop.time() + timeout
        while True:
            while not lock.take():
                if timeout is not None and end is not None and loop.time() >= end:
                    raise DeadlineExceeded(timeout, reached_server=False)
                await asyncio.sleep(POLL)
            sent = await self._send_first(lock, send, end, of_all_keys=of_all_keys)
            if sent is None:
                return done
            done += isinstance(sent[1], Received)

    async def _or_keep(self, call: Call, send: Send, end: float) -> Received:
        attempts = Attempts()
        try:
            return await send(call, end, attempts)
        except AWAY as error:
            _number, waiting = await self._keep(call, error, has_left=attempts.reached, end=end)
            self._look_later()
            raise Buffered(call.headers[KEY], waiting) from error

    async def _behind(self, call: Call, send: Send, end: float) -> Received:
        """Kept first, so that it is not lost, and then sent with what is before it, if there is time."""
        number, waiting = await self._keep(call, None, has_left=False, end=end)
        try:
            outcome = await self._sent_up_to(number, send, end)
        except StrataError as error:
            if isinstance(error, DeadlineExceeded) and error.reached_server:
                self._begin_flush()  # the caller's time was too short to tell whose fault it is
            raise Buffered(call.headers[KEY], waiting) from error
        if outcome is None:
            raise Buffered(call.headers[KEY], waiting)
        self._begin_flush()  # of what came behind it meanwhile
        return await self._told(number, outcome)

    async def _sent_up_to(self, number: int, send: Send, end: float) -> Outcome | None:
        """What became of that write; None: it is sent later, or another process has sent it."""
        lock = self.buffer.lock()
        while time.monotonic() >= self._paused_until and lock.take():
            sent = await self._send_first(lock, send, end)
            if sent is None:
                return None
            if sent[0].id == number:
                return sent[1]
        return None

    async def _told(self, number: int, outcome: Outcome) -> Received:
        """Whoever is told that a write was refused need not find it set aside."""
        if isinstance(outcome, Received):
            return outcome
        with suppress(BufferUnusable):
            await in_thread(self.buffer.remove, number)
        raise outcome

    async def _send_first(
        self, lock: FileLock, send: Send, end: float | None, *, of_all_keys: bool = False
    ) -> tuple[Waiting, Outcome] | None:
        """The oldest write and what became of it, if one waits. Under the lock, which it releases. Raises
        what keeps it the oldest."""
        try:
            one = await in_thread(self.buffer.first, self._origin, of_all_keys=of_all_keys, wait=_wait(end))
            if one is None:
                return None
            outcome = await self._send_one(one, send, end)
        except StrataError:
            self._look_later()
            raise
        finally:
            lock.release()
        self._pause, self._paused_until = FIRST_PAUSE, 0.0
        return one, outcome

    async def _send_one(self, one: Waiting, send: Send, end: float | None) -> Outcome:
        if self.buffer.is_too_old(one):
            return await self._set_aside(one, Refused(409, TOO_OLD), status=None, end=end)
        if one.left_at is not None and one.sender != self._origin.sender:
            return await self._set_aside(one, Refused(409, OF_OTHER_KEY), status=None, end=end)
        now, attempts = time.time(), Attempts()
        try:
            await in_thread(self.buffer.leaves, one, sender=self._origin.sender, at=now, wait=_wait(end))
            answer = await send(one.call, end, attempts)
        except (*AWAY, Unauthenticated) as error:
            if not await self._is_its_fault(error, attempts, send, end):
                raise
            if one.failures + 1 < MOST_FAILURES:
                await in_thread(self.buffer.failed, one, wait=_wait(end))
                raise
            return await self._set_aside(one, error, status=getattr(error, "status", None), end=end)
        except Refused as error:
            if isinstance(error, Conflict) and error.detail.startswith(DONE_BEFORE):
                await in_thread(self.buffer.remove, one.id, wait=_wait(end))
                return error
            return await self._set_aside(one, error, status=error.status, end=end)
        finally:  # whatever ended it, if only that its caller waits no more
            if not attempts.reached:
                with suppress(BufferUnusable):
                    await in_thread(self.buffer.did_not_leave, one, at=now, wait=_wait(end))
        await in_thread(self.buffer.remove, one.id, wait=_wait(end))
        return answer

    async def _is_its_fault(
        self, error: StrataError, attempts: Attempts, send: Send, end: float | None
    ) -> bool:
        """Whether the write fails at a server that is there."""
        if isinstance(error, ServerError):
            return error.status not in TEMPORARY
        if isinstance(error, RateLimited | Unauthenticated) or not attempts.reached:
            return False
        try:
            await send(LOOK, end, Attempts())
        except StrataError:
            return False
        return True

    async def _set_aside(
        self, one: Waiting, error: StrataError, *, status: int | None, end: float | None
    ) -> StrataError:
        await in_thread(self.buffer.set_aside, one, status=status, detail=str(error), wait=_wait(end))
        return error

    async def _keep(
        self, call: Call, error: StrataError | None, *, has_left: bool, end: float
    ) -> tuple[int, int]:
        """Its number, and how many wait with it. Raises BufferFull, BufferUnusable or Conflict."""
        key, origin, wait = call.headers[KEY], self._origin, _wait(end)
        try:
            return await in_thread(self.buffer.keep, call, key, origin=origin, has_left=has_left, wait=wait)
        except (BufferFull, BufferUnusable) as lost:
            raise lost from error

    async def _holds(self, wait: float | None) -> bool:
        return await in_thread(self.buffer.holds, self._origin, wait=wait)

    def _look_later(self) -> None:
        self._paused_until = time.monotonic() + self._pause
        self._pause = min(LONGEST_PAUSE, 2 * self._pause)

    def _begin_flush(self) -> None:
        """Sends what waits beside what the caller does. On the portal's loop: the caller's may never run
        again, and would hold the lock. But what the caller gave to send with belongs to the caller's loop."""
        if self._beside_in == os.getpid():
            return
        self._beside_in = os.getpid()
        work = partial(self._flush_beside, asyncio.get_running_loop())
        if self._transport.is_given:
            self._task = asyncio.create_task(work())
            return
        with suppress(StrataError):  # at the end of Python
            portal().leave(work)

    async def _flush_beside(self, caller: asyncio.AbstractEventLoop) -> None:
        """What fails stays."""
        try:
            with suppress(StrataError):
                await self.flush(self._send)
            if asyncio.get_running_loop() is not caller:
                await self._transport.close()
        finally:
            self._beside_in = None


def _wait(end: float | None) -> float | None:
    """Seconds that a call may wait for the file; None: as long as without a call."""
    return None if end is None else min(WAIT, max(GRACE, end - asyncio.get_running_loop().time()))
