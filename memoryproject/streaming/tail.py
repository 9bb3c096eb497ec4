"""The end of one tenant's log, read while somebody listens, once for all who do."""

import asyncio
import logging
from uuid import UUID

from django.db import Error

from api.native import frames
from memoryproject.streaming.listener import Listener
from memoryproject.streaming.threads import in_thread
from tenants.errors import Unavailable
from working.live import EVERYTHING, Page, read_on
from working.live_types import LiveEvent, Position

LOOK_SECONDS = 0.25
REST_SECONDS = 1.0  # after PostgreSQL did not answer
log = logging.getLogger(__name__)


class Tail:
    """Its listeners have been offered all that they want up to `position`, from the one on at which they
    came."""

    def __init__(self, tenant_id: UUID, position: Position) -> None:
        self.tenant_id = tenant_id
        self.position = position
        self.listeners: set[Listener] = set()

    async def run(self) -> None:
        """For ever. A database that is away ends no stream."""
        while True:
            try:
                page = await in_thread(self._read)
            except (Error, Unavailable) as error:
                reason = {"error": type(error).__name__}
                log.warning("live events wait for PostgreSQL", extra={"fields": reason})
                await asyncio.sleep(REST_SECONDS)
                continue
            self._offer(page)
            if not page.more:
                await asyncio.sleep(LOOK_SECONDS)

    def _read(self) -> Page:
        return read_on(tenant_id=self.tenant_id, wanted=EVERYTHING, after=self.position)

    def _offer(self, page: Page) -> None:
        """In one step of the loop: nobody comes in between. An event that nobody wants costs no frame."""
        for one in page.events:
            if admitting := self._admitting(one):
                frame = frames.told(one)
                for listener in admitting:
                    listener.offer(one.position, frame)
        self.position = page.position

    def _admitting(self, one: LiveEvent) -> list[Listener]:
        return [each for each in self.listeners if not each.over.is_set() and each.asked.wanted.admits(one)]
