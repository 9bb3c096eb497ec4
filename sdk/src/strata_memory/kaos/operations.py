"""The server's `/memory` routes, and what they answer as far as it is read here.

An event's `event_id` makes one event of several attempts, and to open a session that may be there a second
time finds it. Every other write has an Idempotency-Key: it is done once, and the first attempt's success is
what is told. Each creation of a session would empty it again, and may let others go.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime
from typing_extensions import TypedDict  # pydantic reads it, on Python 3.11 too

from ..calls import Operation


def _in_utc(moment: datetime) -> datetime:
    """With Python's own UTC, as the events that are made here have it."""
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class Event(TypedDict):
    event_id: str
    timestamp: Moment
    event_type: str
    content: Any
    metadata: dict[str, Any]


class Session(TypedDict):
    session_id: str
    user_id: str
    app_name: str
    events: list[Event]
    created_at: Moment
    updated_at: Moment


class Events(TypedDict):
    events: list[Event]


class Begun(TypedDict):
    session_id: str


class Sessions(TypedDict):
    sessions: list[str]


class Added(TypedDict):
    added: bool


class Deleted(TypedDict):
    deleted: bool


class Removed(TypedDict):
    removed: int


class Stats(TypedDict):
    total_sessions: int
    total_events: int
    avg_events_per_session: int


_SESSIONS = "/memory/sessions"
_SESSION, _EVENTS = _SESSIONS + "/{}", _SESSIONS + "/{}/events"
BEGIN: Operation[Begun] = Operation("POST", _SESSIONS, Begun, is_write=True)
OPEN: Operation[Begun] = Operation("POST", _SESSIONS, Begun)
READ: Operation[Session] = Operation("GET", _SESSION, Session)
ADD: Operation[Added] = Operation("POST", _EVENTS, Added)
READ_EVENTS: Operation[Events] = Operation("GET", _EVENTS, Events)
LIST: Operation[Sessions] = Operation("GET", _SESSIONS, Sessions)
DELETE: Operation[Deleted] = Operation("DELETE", _SESSION, Deleted, is_write=True)
COUNT: Operation[Stats] = Operation("GET", "/memory/stats", Stats)
CLEAN_UP: Operation[Removed] = Operation("POST", "/memory/cleanup", Removed, is_write=True)
