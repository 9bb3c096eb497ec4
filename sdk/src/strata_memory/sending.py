"""A whole call: its attempts within one deadline, and the buffer behind it."""

import asyncio
import itertools
import math
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from .buffer import DiskBuffer
from .calls import KEY, Call, Received, seconds
from .errors import ConnectionFailed, DeadlineExceeded, StrataError
from .replaying import Replay
from .retrying import is_temporary, wait_before
from .transport import Attempts, Transport

T = TypeVar("T")


class Sender:
    """Sends calls. `timeout` is in seconds, for all attempts of a call together."""

    def __init__(
        self, transport: Transport, *, timeout: float, retries: int, buffer: DiskBuffer | None = None
    ) -> None:
        self.transport = transport
        self.timeout = seconds(timeout)
        self.retries = retries
        self.replay = None if buffer is None else Replay(buffer, transport, self._attempts)

    def within(self, timeout: float) -> "Sender":
        """The same, with another deadline."""
        other = Sender(self.transport, timeout=timeout, retries=self.retries)
        other.replay = self.replay
        return other

    async def send(self, call: Call) -> Received:
        """The answer. Raises a StrataError."""
        call = named(call)
        if self.replay is not None:
            return await self.replay.through(call, self._attempts, self.timeout)
        return await self._attempts(call)

    async def download(self, call: Call, to: Path) -> int:
        """The size of the file that was written."""
        return await self._tried(lambda attempts: self.transport.download(call, to, attempts))

    async def flush(self, *, timeout: float | None = None, of_all_keys: bool = False) -> int:
        """Sends what waits in the buffer and returns how many writes were sent. Each has the time of a call,
        and all together `timeout` seconds; without it, however long it takes."""
        limit = None if timeout is None else seconds(timeout)
        if self.replay is None:
            return 0
        return await self.replay.flush(self._attempts, timeout=limit, of_all_keys=of_all_keys)

    async def _attempts(
        self, call: Call, end: float | None = None, attempts: Attempts | None = None
    ) -> Received:
        async def once(attempts: Attempts) -> Received:
            received = await self.transport.send(call, attempts)
            call.check(received)
            return received

        return await self._tried(once, end, attempts)

    async def _tried(
        self,
        once: Callable[[Attempts], Awaitable[T]],
        end: float | None = None,
        attempts: Attempts | None = None,
    ) -> T:
        """For as long as a call has, and at most until `end` by the loop's clock; `attempts` is told whether
        any of it may have arrived."""
        loop, attempts = asyncio.get_running_loop(), attempts or Attempts()
        end = min(loop.time() + self.timeout, math.inf if end is None else end)
        try:
            async with asyncio.timeout_at(end):
                for attempt in itertools.count(1):
                    try:
                        answer = await once(attempts)
                        attempts.reached = True
                        return answer
                    except StrataError as error:
                        attempts.reached |= not isinstance(error, ConnectionFailed)  # there was an answer
                        wait = wait_before(attempt, error)
                        if attempt > self.retries or not is_temporary(error) or loop.time() + wait >= end:
                            raise
                        await asyncio.sleep(wait)
        except ConnectionFailed as error:
            error.reached_server = attempts.reached
            raise
        except TimeoutError:
            raise DeadlineExceeded(self.timeout, reached_server=attempts.reached) from None
        raise AssertionError("The attempts have no end of their own.")


def named(call: Call) -> Call:
    """The call with an Idempotency-Key, if it is a write: made once, so that all attempts are one write."""
    if not call.is_write or KEY in call.headers:
        return call
    return replace(call, headers={**call.headers, KEY: str(uuid.uuid4())})
