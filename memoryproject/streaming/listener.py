"""One listener: what waits to be sent to it, and whether its stream is over."""

import asyncio
import contextlib
from collections import deque
from typing import Literal

from api.native.streaming import Asked
from memoryproject.streaming.credentials import Credentials
from working.live_types import Position

Reason = Literal["left", "slow", "key", "stopped", "failed"]
MOST_FRAMES = 1_000
MOST_BYTES = 8 << 20


class Listener:
    """Lives in the event loop. `credentials` are what it was let in with."""

    def __init__(self, asked: Asked, credentials: Credentials) -> None:
        self.asked = asked
        self.credentials = credentials
        self.reason: Reason = "left"
        self.over = asyncio.Event()
        self._waiting: deque[tuple[Position, bytes]] = deque()
        self._bytes = 0
        self._something = asyncio.Event()

    def offer(self, position: Position, frame: bytes) -> None:
        """Puts a frame behind those that wait. Who lets too many wait is dropped: it can resume."""
        self._bytes += len(frame)
        if len(self._waiting) >= MOST_FRAMES or self._bytes > max(MOST_BYTES, len(frame)):
            self.end("slow")
            return
        self._waiting.append((position, frame))
        self._something.set()

    def end(self, reason: Reason) -> None:
        """Ends its stream; what waits is not sent any more."""
        if not self.over.is_set():
            self.reason = reason
            self._waiting.clear()
            self.over.set()

    async def take(self, seconds: float) -> list[tuple[Position, bytes]]:
        """All that waits, in order; nothing when so many seconds pass without."""
        with contextlib.suppress(TimeoutError):  # and yet something may have come in that very moment
            await asyncio.wait_for(self._something.wait(), seconds)
        taken = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self._something.clear()
        return taken
