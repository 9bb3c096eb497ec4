"""Sessions that belong to a project."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from observations.models import Observation
from observations.validation import InvalidObservation, check
from tenants.agents.projects import project_of
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden
from tenants.telemetry import memory_span
from working.listing import newest_sessions
from working.models import Session
from working.sessions import Opened, find_session, open_session
from working.transfer import ImportedSession, import_sessions
from working.types import SessionAddress


def begin_session(*, caller: Caller, session_id: str, project: str, now: datetime) -> Opened:
    """The session of that id, created in the project if there is none; one that is there stays as it is.
    Raises InvalidObservation."""
    with memory_span("create_session", session_id=session_id) as span:
        named = project_of(caller, project)
        span.set(project=named)
        check(id=session_id, project=named)
        # A key's own spelling of its project: by that it is compared with the session's.
        return open_session(
            caller=caller, address=SessionAddress(session_id), now=now, project=caller.project or named
        )


def recent_sessions(*, caller: Caller, project: str, limit: int) -> list[Session]:
    """The project's sessions, those begun last first; none without a project."""
    with memory_span("recent_sessions") as span:
        named = project_of(caller, project)
        span.set(project=named)
        return newest_sessions(caller=caller, project=named, limit=limit) if named else []


def import_project_sessions(*, caller: Caller, rows: Sequence[ImportedSession], now: datetime) -> int:
    """Adds, all or none, the sessions that are not here yet; how many these were. Raises
    InvalidObservation."""
    return import_sessions(caller=caller, rows=[_checked(caller, row) for row in rows], now=now)


def _checked(caller: Caller, row: ImportedSession) -> ImportedSession:
    project = project_of(caller, row.project)
    try:
        # Sessions of other dialects may have no project, and are exported like the rest.
        check(id=row.session_id, **({"project": project} if project else {}))
    except InvalidObservation as error:
        raise InvalidObservation(f"{row.place}: {error}") from error
    return replace(row, project=project)


def session_of(*, caller: Caller, observation: Observation) -> Session | None:
    """The session that it was noted in; None if there is none any more, or it cannot be told which."""
    address = SessionAddress(observation.session, observation.user_id or None)
    try:
        return find_session(caller=caller, address=address) if observation.session else None
    except (Conflict, Forbidden):
        return None


def check_session(*, caller: Caller, session_id: str, user_id: str) -> None:
    """Raises InvalidObservation unless there is such a session of that person, of nobody's without one, that
    the key reaches."""
    check(session_id=session_id)
    try:
        address = SessionAddress(session_id, user_id or None)
        found = None if "\x00" in session_id else find_session(caller=caller, address=address)
    except (Conflict, Forbidden):
        found = None
    if found is None or found.user_id != user_id:
        raise InvalidObservation("validation failed: session_id names no session of the same person")
