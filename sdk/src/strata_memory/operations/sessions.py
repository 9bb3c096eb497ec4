# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `sessions`."""

from ..calls import Operation
from ..models.sessions import (
    AppendedEvents,
    AppendedTurns,
    CleanedUp,
    EndedSession,
    EventPage,
    Session,
    SessionPage,
    SessionStats,
    StartedSession,
    Window,
)

LIST: Operation[SessionPage] = Operation("GET", "/api/v1/sessions", answer=SessionPage)
CREATE: Operation[Session] = Operation(
    "POST", "/api/v1/sessions", answer=Session, is_write=True, is_kept=True
)
GET: Operation[Session] = Operation("GET", "/api/v1/sessions/{session_id}", answer=Session)
DELETE: Operation[None] = Operation("DELETE", "/api/v1/sessions/{session_id}", is_write=True)
END: Operation[EndedSession] = Operation(
    "POST", "/api/v1/sessions/{session_id}/end", answer=EndedSession, is_write=True, is_kept=True
)
EVENTS: Operation[EventPage] = Operation("GET", "/api/v1/sessions/{session_id}/events", answer=EventPage)
APPEND_EVENT: Operation[AppendedEvents] = Operation(
    "POST",
    "/api/v1/sessions/{session_id}/events",
    answer=AppendedEvents,
    nulls=frozenset({"content"}),
    is_write=True,
    is_kept=True,
)
APPEND_EVENTS: Operation[AppendedEvents] = Operation(
    "POST", "/api/v1/sessions/{session_id}/events", answer=AppendedEvents, is_write=True, is_kept=True
)
START: Operation[StartedSession] = Operation(
    "POST", "/api/v1/sessions/{session_id}/start", answer=StartedSession, is_write=True
)
APPEND_TURNS: Operation[AppendedTurns] = Operation(
    "POST", "/api/v1/sessions/{session_id}/turns", answer=AppendedTurns, is_write=True, is_kept=True
)
WINDOW: Operation[Window] = Operation("GET", "/api/v1/sessions/{session_id}/window", answer=Window)
CLEAN_UP: Operation[CleanedUp] = Operation(
    "POST", "/api/v1/sessions/cleanup", answer=CleanedUp, is_write=True
)
STATS: Operation[SessionStats] = Operation("GET", "/api/v1/sessions/stats", answer=SessionStats)
