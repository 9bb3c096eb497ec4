"""Live events on the main port: what has happened since, then the client comes back.

A thread answers one request, so here at most one request in each process waits for more, and only a moment.
Streams that stay open have a process of their own, `memoryproject.streaming`, which checks requests by this
view.
"""

import threading
import time
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from api import parameters
from api.native import frames
from api.native.views import NativeView
from api.views import caller_of, event_types, query_id
from tenants.caller import Caller
from working.live import Page, position_at, read_on, wanted_by
from working.live_types import Position, Wanted

PATH = "/api/v1/events/stream"
WAIT_SECONDS, LOOK_SECONDS = 3.0, 0.25
MOST_BYTES = 1 << 20  # of an answer, and then the rest of its last page
_spare = threading.BoundedSemaphore(1)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who listens, for what, and behind which position; None: from now on."""

    caller: Caller
    wanted: Wanted
    after: Position | None

    def read_on(self, after: Position | None) -> Page:
        return read_on(tenant_id=self.caller.tenant_id, wanted=self.wanted, after=after)


class StreamView(NativeView):
    """`/api/v1/events/stream`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="events_stream",
        summary="Events as they are committed, as server-sent events",
        parameters=[
            parameters.OF_SESSION,
            parameters.USER,
            parameters.AGENT,
            parameters.EVENT_TYPES,
            parameters.AFTER,
            parameters.LAST_EVENT_ID,
        ],
        responses={(200, frames.MEDIA_TYPE): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        wanted = wanted_by(
            caller,
            session_id=query_id(request, "session_id"),
            user_id=query_id(request, "user_id"),
            agent_id=query_id(request, "agent_id"),
            event_types=event_types(request),
        )
        return self.answer(Asked(caller, wanted, _position(request)))

    def answer(self, asked: Asked) -> HttpResponse:
        """What has happened, and where the stream that stays open is."""
        response = HttpResponse(_told(asked), content_type=frames.MEDIA_TYPE, headers=frames.HEADERS)
        if settings.STREAM_URL:
            response.headers["Link"] = f'<{settings.STREAM_URL.rstrip("/")}{PATH}>; rel="alternate"'
        return response


def _position(request: Request) -> Position | None:
    """Where the client stands: who comes back sends the same address as at first, and the header besides."""
    cursor = request.headers.get("Last-Event-ID") or request.query_params.get("after")
    return position_at(cursor) if cursor else None


def _told(asked: Asked) -> bytes:
    page = asked.read_on(asked.after)
    body = bytearray(frames.opening(asked.after or page.position))
    if not page.events:
        page = _awaited(asked, page)
    while page.events:
        body += b"".join(map(frames.told, page.events))
        if not page.more or len(body) >= MOST_BYTES:
            break
        page = asked.read_on(page.position)
    return bytes(body) + frames.standing(page.position)


def _awaited(asked: Asked, page: Page) -> Page:
    """The next page with events, if one comes soon and no other request of this process waits."""
    if settings.WEB_THREADS < 2 or not _spare.acquire(blocking=False):
        return page
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not page.events and time.monotonic() < deadline:
            connection.close()  # back into the pool
            time.sleep(LOOK_SECONDS)
            page = asked.read_on(page.position)
        return page
    finally:
        _spare.release()
