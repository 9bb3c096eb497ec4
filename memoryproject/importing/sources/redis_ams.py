"""Redis Agent Memory Server: its API, or its answers in a file."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from episodic.models import MemoryType
from episodic.types import NewRecord
from memoryproject.importing import fields
from memoryproject.importing.errors import SourceMalformed, Unusable
from memoryproject.importing.files import JsonFile
from memoryproject.importing.logs import Talk
from memoryproject.importing.rows import Junk, LogEvent, Memory, Row
from memoryproject.importing.seen import Seen
from memoryproject.importing.web import WebSource
from working.events import ROLE_EVENTS
from working.types import NewEvent

PAGE = 100  # the most that it answers at once
SESSIONS, RECORDS = "/v1/working-memory/", "/v1/long-term-memory/search"


class AmsServer:
    """A running server: its long-term memories page by page, then its sessions.

    It tells a session only to whoever names its person and namespace, and lists neither: those that the
    memories name are asked for, beside those of nobody's and of the person that is named to us.
    """

    name, unit = "redis-ams", " entries"

    def __init__(self, web: WebSource, *, user_id: str) -> None:
        self._web, self._user_id = web, user_id
        self.total: int | None = None
        self.position = 0
        self._places = {("", user_id)}  # namespaces and persons whose sessions are asked for
        self._told: set[tuple[str, str, str]] = set()

    def rows(self) -> Iterator[Row]:
        """Everything that it tells."""
        with Seen() as seen:
            yield from self._memories(seen)
        for namespace, user_id in sorted(self._places):
            yield from self._sessions(namespace, user_id)

    def _memories(self, seen: Seen) -> Iterator[Row]:
        where = {"user_id": {"eq": self._user_id}} if self._user_id else {}
        offset: int | None = 0
        while offset is not None:
            answer = self._web.post(RECORDS, {"limit": PAGE, "offset": offset, **where})
            found = _list(answer, "memories", self._web.shown, RECORDS)
            self.total = answer.get("total") if isinstance(answer.get("total"), int) else None
            # All of them, none left out: each is to be known from now on.
            if found and not sum([seen.is_new(fields.sample_of(one)) for one in found]):
                raise self._goes_round(RECORDS)
            for number, value in enumerate(found, offset):
                self.position += 1
                row = memory_of(f"memories[{number}]", value)
                if isinstance(row, Memory):
                    self._places.add((row.record.namespace, row.record.user_id or ""))
                yield row
            offset = offset + len(found) if answer.get("next_offset") and found else None

    def _sessions(self, namespace: str, user_id: str) -> Iterator[Row]:
        offset = 0
        whose = {"namespace": namespace, "user_id": user_id}
        listed: set[str] = set()
        while True:
            answer = self._web.get(SESSIONS, limit=PAGE, offset=offset, **whose)
            found = [str(one) for one in _list(answer, "sessions", self._web.shown, SESSIONS)]
            if found and listed.issuperset(found):
                raise self._goes_round(SESSIONS)
            for session_id in found:
                yield from self._session(session_id, whose)
            if len(found) < PAGE:
                return
            listed.update(found)
            offset += len(found)

    def _goes_round(self, path: str) -> SourceMalformed:
        return SourceMalformed(
            f"{self._web.shown} answers {path} with what it answered before, whichever page is asked for: "
            "there may be more."
        )

    def _session(self, session_id: str, whose: Mapping[str, str]) -> Iterator[Row]:
        answer = self._web.get(SESSIONS + fields.in_path(session_id), **whose)
        if not isinstance(answer, dict):
            return  # another person's, who is asked for by name if a memory names them
        told = (session_id, str(answer.get("namespace")), str(answer.get("user_id")))
        if told not in self._told:
            self._told.add(told)
            self.position += 1
            yield from session_of(f"session {session_id}", answer)


class AmsFile:
    """Its answers: a search's, or a session's, one or one a line; or memories as such."""

    name = "redis-ams"

    def __init__(self, file: JsonFile) -> None:
        self._file, self.unit, self.total = file, file.unit, file.total

    @property
    def position(self) -> int:
        """In bytes."""
        return self._file.position

    def rows(self) -> Iterator[Row]:
        """Everything in it."""
        lists = () if self._file.has_member("messages") else ("memories",)
        for entry in self._file.entries(lists):
            if isinstance(entry, Junk):
                yield entry
            elif not isinstance(entry.value, dict):
                yield Junk(entry.place, "not a JSON object", fields.sample_of(entry.value))
            elif "messages" in entry.value:
                yield from session_of(entry.place, entry.value)
            elif isinstance(entry.value.get("memories"), list):
                for number, one in enumerate(entry.value["memories"]):
                    yield memory_of(f"{entry.place}, memories[{number}]", one)
            else:
                yield memory_of(entry.place, entry.value)


def memory_of(place: str, value: Any) -> Memory | Junk:
    """A long-term record. It keeps its id: clients know it by that."""
    try:
        return Memory(place, _record(fields.as_object(value)))
    except Unusable as error:
        return Junk(place, str(error), fields.sample_of(value))


def session_of(place: str, answer: Mapping[str, Any]) -> Iterator[Row]:
    """A session as it is answered: what was said in it, and the records that still wait in it."""
    try:
        whole = {name: one for name, one in answer.items() if name not in ("messages", "memories")}
        head = fields.as_object(whole)
        session_id, user_id = fields.text(head, "session_id"), fields.name(head, "user_id")
        namespace, data = fields.name(head, "namespace"), fields.members(head, "data")
        context = head.get("context") or ""
        if not isinstance(context, str):
            raise Unusable("context is not a text")
        messages, memories = (_values(answer, one) for one in ("messages", "memories"))
    except Unusable as error:
        yield Junk(place, str(error), fields.sample_of(answer))
        return
    events = []
    for number, value in enumerate(messages):
        where = f"{place}, message {number}"
        try:
            events.append(_event(where, fields.as_object(value)))
        except Unusable as error:
            yield Junk(where, str(error), fields.sample_of(value))
    if events or data or context:
        yield from Talk(place, session_id, events, user_id, namespace, data=data, context=context).logs()
    for number, value in enumerate(memories):
        if isinstance(value, dict) and value.get("persisted_at") is None:
            inherited = {"session_id": session_id, "user_id": user_id, "namespace": namespace}
            given = {name: one for name, one in value.items() if one is not None}
            yield memory_of(f"{place}, memories[{number}]", inherited | given)


def _values(answer: Mapping[str, Any], member: str) -> list[Any]:
    found = answer.get(member) or []
    if not isinstance(found, list):
        raise Unusable(f"{member} is not a list")
    return found


def _record(item: Mapping[str, Any]) -> NewRecord:
    text = fields.text(item, "text")
    user_id, namespace, session_id = (
        fields.name(item, one) for one in ("user_id", "namespace", "session_id")
    )
    kind = item.get("memory_type") or MemoryType.SEMANTIC
    if kind not in MemoryType.values:
        raise Unusable("memory_type is unknown")
    return NewRecord(
        id=fields.name(item, "id") or fields.derived_id("ams", user_id, namespace, session_id, text),
        text=text,
        session_id=session_id,
        user_id=user_id or None,
        namespace=namespace,
        created_at=fields.moment(item, "created_at"),
        event_date=fields.moment(item, "event_date"),
        topics=fields.texts(item, "topics"),
        entities=fields.texts(item, "entities"),
        memory_type=str(kind),
        pinned=item.get("pinned") is True,
        access_count=fields.number(item, "access_count", 0),
        last_accessed=fields.moment(item, "last_accessed"),
        extracted_from=fields.texts(item, "extracted_from"),
        metadata=fields.members(item, "metadata"),
    )


def _event(place: str, item: Mapping[str, Any]) -> LogEvent:
    role, created_at = fields.text(item, "role")[:64], fields.moment(item, "created_at")
    event = NewEvent(
        event_type=ROLE_EVENTS.get(role, "message"),
        content=fields.text(item, "content"),
        created_at=created_at or datetime.now(UTC),
        external_id=fields.name(item, "id") or None,
        role=role,
    )
    return LogEvent(place, event, is_dated=created_at is not None)


def _list(answer: Any, member: str, shown: str, path: str) -> list[Any]:
    found = answer.get(member) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise SourceMalformed(f"{shown} does not answer {path} as the Agent Memory Server does.")
    return found
