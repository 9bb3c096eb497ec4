"""KAOS: what an agent answers at /memory/sessions and /memory/events, asked for or kept in files."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memoryproject.importing import fields
from memoryproject.importing.errors import SourceMalformed, Unusable
from memoryproject.importing.files import JsonFile
from memoryproject.importing.logs import Talk
from memoryproject.importing.rows import Junk, LogEvent, Row
from memoryproject.importing.web import WebSource
from working.events import role_of
from working.types import NewEvent

MOST = 1_000  # events that an agent answers at once, the newest of a session
NAMELESS = "agent"  # what an agent without a name calls itself
Placed = tuple[str, Any]  # where an event stands, and what stands there


class KaosAgent:
    """A running agent."""

    name, unit = "kaos", " sessions"

    def __init__(self, web: WebSource) -> None:
        self._web = web
        self.total: int | None = None
        self.position = 0

    def rows(self) -> Iterator[Row]:
        """Its sessions, with as many of their events as it answers."""
        answer = self._web.get("/memory/sessions")
        if not isinstance(answer, dict) or not isinstance(answer.get("sessions"), list):
            raise SourceMalformed(f"{self._web.shown} does not answer /memory/sessions as an agent does.")
        sessions = [one for one in answer["sessions"] if isinstance(one, str) and one]
        self.total = len(sessions)
        for session_id in sessions:
            found = self._web.get("/memory/events", session_id=session_id, limit=MOST)
            yield from talks_of(f"session {session_id}", found, session_id)
            self.position += 1


class KaosFile:
    """Answers of /memory/events in a file: one, or one a line. Events that name no session are of the one
    that the file is named after."""

    name = "kaos"

    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path)
        self.unit, self.total, self._stem = self._file.unit, self._file.total, path.stem

    @property
    def position(self) -> int:
        """In bytes."""
        return self._file.position

    def rows(self) -> Iterator[Row]:
        """Its sessions, in pieces as they come. An answer is held as a whole: no agent has long ones."""
        pending: list[Placed] = []
        for entry in self._file.entries(()):
            if isinstance(entry, Junk):
                yield entry
            elif not _is_answer(entry.value):
                pending.append((entry.place, entry.value))
                if len(pending) >= MOST:
                    yield from _talks(pending, self._stem)
                    pending = []
            else:
                session_id = entry.value.get("session_id")
                named = session_id if isinstance(session_id, str) and session_id else self._stem
                yield from talks_of(entry.place, entry.value, named)
        yield from _talks(pending, self._stem)


def talks_of(place: str, answer: Any, session_id: str) -> Iterator[Row]:
    """The sessions whose events these are, in pieces, and the events that cannot be used. `session_id` is
    that of events that name none."""
    if not _is_answer(answer):
        yield Junk(place, "no answer of /memory/events", fields.sample_of(answer))
        return
    agent = answer.get("agent") if isinstance(answer.get("agent"), str) else ""
    placed = [(f"{place}, event {number}", one) for number, one in enumerate(answer["events"])]
    yield from _talks(placed, session_id, agent_id="" if agent == NAMELESS else agent or "")


def _talks(placed: Sequence[Placed], session_id: str, agent_id: str = "") -> Iterator[Row]:
    """An answer may be that of a whole memory: each session and person in it is a talk by itself."""
    talks: dict[tuple[str, str], list[LogEvent]] = {}
    for place, value in placed:
        try:
            item = fields.as_object(value)
            whose = fields.name(item, "session_id") or session_id, fields.name(item, "user_id")
            event = _event(place, item)
        except Unusable as error:
            yield Junk(place, str(error), fields.sample_of(value))
        else:
            talks.setdefault(whose, []).append(event)
    for (session, user_id), events in talks.items():
        yield from Talk(events[0].place, session, events, user_id or None, agent_id=agent_id).logs()


def _event(place: str, item: Mapping[str, Any]) -> LogEvent:
    event_type = fields.text(item, "event_type", "type")[:64]
    content, created_at = item.get("content"), fields.moment(item, "timestamp")
    event = NewEvent(
        event_type=event_type,
        content=content,
        created_at=created_at or datetime.now(UTC),
        external_id=fields.name(item, "event_id") or fields.name(item, "id") or None,
        role=role_of(event_type, content),
        metadata=fields.members(item, "metadata"),
    )
    return LogEvent(place, event, is_dated=created_at is not None)


def _is_answer(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("events"), list)
