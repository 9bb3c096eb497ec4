"""All listeners of the process: one tail for each of their tenants, one watch over their keys."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from uuid import UUID

from django.db import Error

from memoryproject.streaming.credentials import Credentials
from memoryproject.streaming.listener import Listener
from memoryproject.streaming.metrics import ENDED, OPEN
from memoryproject.streaming.places import Places
from memoryproject.streaming.tail import Tail
from memoryproject.streaming.threads import in_thread
from tenants.errors import Unavailable
from working.live_types import Position

CHECK_SECONDS = 1.0
log = logging.getLogger(__name__)


class Hub:
    """Lives in one event loop."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._tails: dict[UUID, tuple[Tail, asyncio.Task[None]]] = {}
        self._is_stopping = False
        self.places = Places()

    def enter(self, listener: Listener) -> None:
        """From now on its key is watched over."""
        self._listeners.add(listener)
        OPEN.inc()
        if self._is_stopping:
            listener.end("stopped")

    def follow(self, listener: Listener, position: Position) -> Tail:
        """From now on it is offered what comes. A tail that is there stands elsewhere than at `position`."""
        tenant_id = listener.asked.caller.tenant_id
        if tenant_id not in self._tails:
            tail = Tail(tenant_id, position)
            task = asyncio.create_task(tail.run())
            task.add_done_callback(partial(self._ended, tail))
            self._tails[tenant_id] = (tail, task)
        tail, _task = self._tails[tenant_id]
        tail.listeners.add(listener)
        return tail

    def _ended(self, tail: Tail, task: asyncio.Task[None]) -> None:
        """Whoever listened to a tail that failed would wait in vain: they come back to a new one."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        log.error("a tail of live events failed", exc_info=error)
        self._tails.pop(tail.tenant_id, None)
        for listener in tail.listeners:
            listener.end("failed")

    def leave(self, listener: Listener) -> None:
        """The last one to leave ends the tail."""
        self._listeners.discard(listener)
        OPEN.dec()
        ENDED.labels(listener.reason).inc()
        tenant_id = listener.asked.caller.tenant_id
        if tenant_id in self._tails:
            tail, task = self._tails[tenant_id]
            tail.listeners.discard(listener)
            if not tail.listeners:
                task.cancel()
                del self._tails[tenant_id]

    async def watch_keys(self) -> None:
        """For ever: ends the streams of those whose key was revoked, has expired, or reaches elsewhere."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if self._listeners:
                for listener in await in_thread(_shut_out, list(self._listeners)):
                    listener.end("key")

    def stop(self) -> None:
        """Ends all streams, those too that are just beginning."""
        self._is_stopping = True
        for listener in self._listeners:
            listener.end("stopped")


def _shut_out(listeners: Iterable[Listener]) -> list[Listener]:
    """Who is not let in any more. While a key cannot be looked up nobody of it is shut out: nor is anybody
    told."""
    shut_out = list[Listener]()
    alike = defaultdict[Credentials, list[Listener]](list)
    for listener in listeners:
        alike[listener.credentials].append(listener)
    for credentials, those in alike.items():
        try:
            caller = credentials.caller()
        except (Error, Unavailable) as error:
            log.warning("a key could not be looked up", extra={"fields": {"error": type(error).__name__}})
            continue
        shut_out += [one for one in those if one.asked.caller != caller]
    return shut_out
