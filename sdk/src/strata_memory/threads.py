"""Blocking work beside an event loop."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What it returns or raises, from a thread of its own. The threads of the loop's executor are few and may
    all be waiting for the names of hosts; a fork has none of them; at the end of Python they take no work."""
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work(*args, **named)
        except BaseException as error:  # noqa: BLE001  # raised where it is waited for
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="strata-memory-file", daemon=True).start()
    return await asyncio.wrap_future(future)
