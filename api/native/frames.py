"""Live events as server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html."""

import json

from api.native import answers
from api.renderers import plain
from working.live import cursor_of
from working.live_types import LiveEvent, Position

MEDIA_TYPE = "text/event-stream"
RECONNECT_MS = 1_000
# No proxy may keep events back to send them together.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def opening(position: Position) -> bytes:
    """What a stream begins with: when to come back, and where it stands."""
    return f"retry: {RECONNECT_MS}\n".encode() + standing(position)


def standing(position: Position) -> bytes:
    """A frame without data: clients dispatch nothing, but will resume behind it."""
    return f"id: {cursor_of(position)}\n\n".encode()


def ping(position: Position) -> bytes:
    """Keeps the connection from being taken for dead, and spares who resumes what it does not want."""
    return b": ping\n" + standing(position)


def told(one: LiveEvent) -> bytes:
    """An event: its type is the frame's, as far as that fits on a line. In ASCII: there are clients that take
    other characters of Unicode for the end of a line, too."""
    data = answers.event(one.event) | {
        "session_id": one.session_id,
        "namespace": one.namespace,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "project": one.project or None,
    }
    kind = " ".join(one.event.event_type.splitlines())
    line = json.dumps(data, separators=(",", ":"), default=plain)
    return f"id: {cursor_of(one.position)}\nevent: {kind}\ndata: {line}\n\n".encode()
