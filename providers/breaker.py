"""A circuit breaker: a server that keeps failing is left alone for a while, and callers learn it at once.

Pure: the clock is passed in. Closed, everything passes; after `threshold` failures in a row it opens, and
nothing passes for `cooldown` seconds; then one call is let through (half open), whose outcome decides.
"""

import threading
import time
from collections.abc import Callable
from typing import Literal

LONGEST_COOLDOWN = 120.0  # seconds; a server may ask for more, but it is asked again by then


class BreakerOpen(Exception):
    """The server is being left alone; ask again in `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"It failed repeatedly and is left alone for {retry_after:.1f} s.")
        self.retry_after = retry_after


class Breaker:
    """Of one model at one address. Each `admit()` that returns must be followed by one of the outcomes."""

    def __init__(
        self, *, threshold: int = 5, cooldown: float = 10.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._threshold, self._cooldown, self._clock = threshold, cooldown, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._open_until: float | None = None
        self._probing = False

    @property
    def state(self) -> Literal["closed", "open", "half-open"]:
        """`half-open`: the next call, or the one under way, decides."""
        with self._lock:
            if self._open_until is None:
                return "closed"
            return "half-open" if self._clock() >= self._open_until else "open"

    def admit(self) -> None:
        """Let a call pass, or raise BreakerOpen."""
        with self._lock:
            if self._open_until is None:
                return
            left = self._open_until - self._clock()
            if left > 0:
                raise BreakerOpen(left)
            if self._probing:
                raise BreakerOpen(1.0)
            self._probing = True

    def succeeded(self) -> None:
        """The server answered: everything passes again."""
        with self._lock:
            self._failures, self._open_until, self._probing = 0, None, False

    def failed(self, retry_after: float | None = None) -> None:
        """The server did not answer, or asked for a pause of `retry_after` seconds."""
        with self._lock:
            self._failures += 1
            if self._failures >= self._threshold:
                pause = min(self._cooldown if retry_after is None else retry_after, LONGEST_COOLDOWN)
                self._open_until = self._clock() + pause
            self._probing = False

    def abandoned(self) -> None:
        """The call ended without telling anything about the server; another may decide."""
        with self._lock:
            self._probing = False
