"""A loop whose time passes at once where everybody waits: an hour of waiting takes none."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Hurrying(selectors.SelectSelector):
    passed = 0.0  # seconds

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout if timeout is None else 0)
        if not ready and timeout is not None:
            self.passed += max(0.0, timeout)
        return ready


class HurryingLoop(asyncio.SelectorEventLoop):
    """For work that waits for nothing outside."""

    def __init__(self) -> None:
        self._hurrying = _Hurrying()
        super().__init__(self._hurrying)

    def time(self) -> float:
        """Seconds that have passed in it."""
        return self._hurrying.passed


def hurried(work: Coroutine[Any, Any, Any]) -> tuple[Any, float]:
    """What it returns, or the error that it raises, and the seconds that it would have taken."""

    async def timed() -> tuple[Any, float]:
        (told,) = await asyncio.gather(work, return_exceptions=True)
        return told, asyncio.get_running_loop().time()

    with asyncio.Runner(loop_factory=HurryingLoop) as runner:
        return runner.run(timed())
