"""Where the calls of the blocking client run: an event loop on a thread of its own, one per process.

The blocking client is the asynchronous one, waited for. So there is one way of sending, retrying and keeping,
and a deadline ends whatever a call waits for: a name that is not resolved, headers that come byte by byte.
"""

import asyncio
import functools
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from .errors import ConnectionFailed, StrataError

T = TypeVar("T")


class Portal:
    """A running loop."""

    def __init__(self) -> None:
        self._loop, self._process = asyncio.new_event_loop(), os.getpid()
        self._thread = threading.Thread(target=self._loop.run_forever, name="strata-memory", daemon=True)
        self._begun: set[Future[Any]] = set()
        try:
            self._thread.start()
        except RuntimeError as error:  # as Python does at its end, and a system that has no more of them
            self._loop.close()
            raise ConnectionFailed(f"No call can be made: {error}.", reached_server=False) from None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns or raises. An interrupt of the waiting thread cancels it. Raises
        StrataError where the wait would have no end."""
        if self._thread is threading.current_thread():  # where a handler of its log lines calls, say
            work.close()
            raise StrataError("A blocking call on the thread of all blocking calls would wait for itself.")
        future: Future[T] = Future()
        try:  # before it is begun: an interrupt that comes ahead of the wait must end the work, too
            self._begin(work, future)
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def leave(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Has it done from any thread, and does not wait. What is dropped in a fork is still the other
        process's, and at the end of Python nobody is left to do it: then there is nothing to do."""
        if self._process == os.getpid() and not sys.is_finalizing():
            self._begin(work(), Future())

    def _begin(self, work: Coroutine[Any, Any, T], future: Future[T]) -> None:
        try:
            _make_sure_python_goes_on()
            if self._process != os.getpid():
                raise StrataError("What was begun before a fork goes on in the process that began it.")
        except StrataError:
            work.close()
            raise
        self._begun.add(future)  # a loop by itself does not hold what it does
        future.add_done_callback(self._begun.discard)
        self._loop.call_soon_threadsafe(_begin, work, future)


def _make_sure_python_goes_on() -> None:
    """At its very end, behind what `atexit` calls, other threads do not run any more."""
    if sys.is_finalizing():
        raise ConnectionFailed("Python is ending: no call is made any more.", reached_server=False)


def _begin(work: Coroutine[Any, Any, T], future: Future[T]) -> None:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    task.add_done_callback(functools.partial(_tell, future))

    def end(_: Future[T]) -> None:
        if not task.done():
            loop.call_soon_threadsafe(task.cancel)

    future.add_done_callback(end)


def _tell(future: Future[T], task: asyncio.Task[T]) -> None:
    if task.cancelled():
        future.cancel()
        return
    error = task.exception()
    if not future.set_running_or_notify_cancel():
        return  # nobody waits any more
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(task.result())


_lock = threading.Lock()
_portal: Portal | None = None


def portal() -> Portal:
    """This process's portal; it starts with the first call. Raises ConnectionFailed where none can start."""
    global _portal  # noqa: PLW0603  # one thread per process, whatever the number of clients
    with _lock:
        if _portal is None:
            _make_sure_python_goes_on()
            _portal = Portal()
        return _portal


def _forget() -> None:
    """A fork has the loop, not its thread."""
    global _portal, _lock
    _lock, _portal = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
