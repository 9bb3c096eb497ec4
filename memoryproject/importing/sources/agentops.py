"""AgentOps: what GET /export answers, of a server or in a file; sessions first, then observations."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from memoryproject.importing import fields
from memoryproject.importing.errors import SourceUnknown, Unusable
from memoryproject.importing.files import Entry, JsonFile, streamed
from memoryproject.importing.rows import Exported, Junk, Row
from memoryproject.importing.web import WebSource
from observations.transfer import ImportedObservation
from observations.types import NewObservation
from working.transfer import ImportedSession

LISTS = ("sessions", "observations")


class ExportFile:
    """An export in a file."""

    name = "agentops"

    def __init__(self, file: JsonFile) -> None:
        self._file, self.unit, self.total = file, file.unit, file.total

    @property
    def position(self) -> int:
        """In bytes."""
        return self._file.position

    def rows(self) -> Iterator[Row]:
        """Its sessions and observations, in its order."""
        for entry in self._file.entries(LISTS):
            if isinstance(entry, Junk):
                yield entry
            elif entry.place == "the document":
                if not any(name in entry.value for name in LISTS):
                    raise SourceUnknown(f"{self._file.path} holds no export: no sessions, no observations.")
            else:
                yield row_of(entry)


class ExportServer:
    """A server, asked for everything that it exports, while it comes in."""

    name, unit = "agentops", "B"

    def __init__(self, web: WebSource) -> None:
        self._web = web
        self.total: int | None = None
        self.position = 0

    def rows(self) -> Iterator[Row]:
        """Its sessions and observations, in its order."""
        with self._web.stream("/export") as stream:
            for entry in streamed(stream, LISTS, what=f"{self._web.shown}/export"):
                self.position = stream.position
                yield entry if isinstance(entry, Junk) else row_of(entry)


def row_of(entry: Entry) -> Exported | Junk:
    """A session or an observation."""
    try:
        item = {name.casefold(): one for name, one in fields.as_object(entry.value).items()}
        if entry.member == "sessions" or (not entry.member and "started_at" in item):
            started_at = fields.moment(item, "started_at")
            session = _session(entry.place, item, started_at or datetime.now(UTC))
            return Exported(entry.place, session, is_dated=started_at is not None)
        return Exported(entry.place, _observation(entry.place, item))
    except Unusable as error:
        return Junk(entry.place, str(error), fields.sample_of(entry.value))


def _session(place: str, item: Mapping[str, Any], started_at: datetime) -> ImportedSession:
    fields.text(item, "id")
    return ImportedSession(
        place=place,
        session_id=fields.name(item, "id"),
        project=fields.name(item, "project"),
        started_at=started_at,
        ended_at=fields.moment(item, "ended_at"),
        summary=_text(item, "summary"),
        message_count=fields.number(item, "message_count", 0),
        user_id=fields.name(item, "user_id") or None,
        agent_id=fields.name(item, "agent_id"),
        namespace=fields.name(item, "namespace"),
    )


def _observation(place: str, item: Mapping[str, Any]) -> ImportedObservation:
    created_at = fields.moment(item, "created_at")
    if created_at is None:
        raise Unusable("created_at is missing")  # by which it is known when it comes again
    return ImportedObservation(
        place=place,
        new=NewObservation(
            session_id=fields.text(item, "session_id"),
            type=fields.text(item, "type"),
            title=fields.text(item, "title"),
            content=fields.text(item, "content"),
            project=fields.name(item, "project"),
            scope=_text(item, "scope"),
            topic_key=_text(item, "topic_key"),
            tags=fields.texts(item, "tags"),
            user_id=fields.name(item, "user_id") or None,
        ),
        created_at=created_at,
        updated_at=fields.moment(item, "updated_at") or created_at,
        last_seen_at=fields.moment(item, "last_seen_at"),
        revision_count=fields.number(item, "revision_count", 1),
        duplicate_count=fields.number(item, "duplicate_count", 1),
        promoted_to=_text(item, "promoted_to"),
        agent_id=fields.name(item, "agent_id"),
    )


def _text(item: Mapping[str, Any], field: str) -> str:
    value = item.get(field)
    if value is not None and not isinstance(value, str):
        raise Unusable(f"{field} is not a text")
    return value or ""
