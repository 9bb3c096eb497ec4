"""An export as it comes in: its sessions and observations one after another, however large it is."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from datetime import datetime
from decimal import Decimal
from json import JSONDecodeError
from typing import Any

import ijson
from django.conf import settings
from ijson.common import ObjectBuilder

from api.agentops.reading import BadBody, Members, mismatch
from api.parsers import BLANKS, DEEPEST, check_text
from observations.transfer import ImportedObservation
from observations.types import NewObservation
from recall.transfer import Row
from tenants.errors import TooLarge
from working.transfer import ImportedSession

# The parsers in C put a question mark in the place of half a surrogate pair. This one takes some 20 MB in a
# second, far more than can be stored.
PARSER = ijson.get_backend("python")
CHUNK = 65_536
LISTS = ("sessions", "observations")
OPENING, CLOSING = ("start_map", "start_array"), ("end_map", "end_array")
Event = tuple[str, Any]


def read_rows(read: Callable[[int], bytes], *, now: datetime) -> Generator[Row]:
    """The rows of the export that `read` brings, bytes at a time. What lacks a moment is of `now`.

    To be closed: then what is left is read and dropped, unless it is much. Raises BadBody, Invalid for text
    that cannot be stored, and TooLarge above `IMPORT_MAX_BYTES`, or when one value alone exceeds
    `MAX_BODY_BYTES`.
    """
    with closing(_events(read)) as events:
        for name, place, value in _items(events):
            members = Members(value, f"{name}[{place}]")
            yield _session(members, now) if name == "sessions" else _observation(members, now)


def _session(row: Members, now: datetime) -> ImportedSession:
    return ImportedSession(
        place=row.place,
        session_id=row.text("id"),
        project=row.text("project"),
        started_at=row.moment("started_at") or now,
        ended_at=row.moment("ended_at"),
        summary=row.text("summary"),
        message_count=row.number("message_count", 0),
        user_id=row.id("user_id"),
        agent_id=row.id("agent_id"),
        namespace=row.id("namespace"),
    )


def _observation(row: Members, now: datetime) -> ImportedObservation:
    created_at = row.moment("created_at") or now
    return ImportedObservation(
        place=row.place,
        new=NewObservation(
            session_id=row.text("session_id"),
            type=row.text("type"),
            title=row.text("title"),
            content=row.text("content"),
            project=row.text("project"),
            scope=row.text("scope"),
            topic_key=row.text("topic_key"),
            tags=row.texts("tags") or (),
            user_id=row.id("user_id"),
        ),
        created_at=created_at,
        updated_at=row.moment("updated_at") or created_at,
        last_seen_at=row.moment("last_seen_at"),
        revision_count=row.number("revision_count", 1),
        duplicate_count=row.number("duplicate_count", 1),
        promoted_to=row.text("promoted_to"),
        agent_id=row.id("agent_id"),
    )


def _events(read: Callable[[int], bytes]) -> Generator[Event]:
    """What the parser meets; `("chunk", n)` before what it meets in the next n bytes."""
    events = ijson.sendable_list()
    parser = PARSER.basic_parse_coro(events)
    total, begun = 0, False
    try:
        while True:
            chunk, failure = read(CHUNK), None
            total += len(chunk)
            if total > settings.IMPORT_MAX_BYTES:
                raise TooLarge(f"The body exceeds {settings.IMPORT_MAX_BYTES} bytes.")
            begun = begun or bool(chunk.strip(BLANKS.encode()))
            yield "chunk", len(chunk)
            try:
                parser.send(chunk) if chunk else parser.close()
            except (ijson.JSONError, ValueError) as error:
                failure = error
            yield from events  # whoever has met the end of the value asks for no more
            events.clear()
            if failure is not None or not chunk:
                raise BadBody(f"invalid JSON: {_reason(failure, begun)}") from failure
    finally:
        with suppress(ijson.JSONError, ValueError):  # that it is not at the end
            parser.close()
        _drop(read)


def _drop(read: Callable[[int], bytes]) -> None:
    """Many clients look for the answer only once they have sent everything."""
    dropped = 0
    while dropped < settings.MAX_BODY_BYTES and (chunk := read(CHUNK)):
        dropped += len(chunk)


def _reason(failure: Exception | None, begun: bool) -> str:
    if failure is None or isinstance(failure, ijson.IncompleteJSONError):
        return "unexpected EOF" if begun else "EOF"
    return failure.msg if isinstance(failure, JSONDecodeError) else "invalid character or number"


def _items(events: Iterator[Event]) -> Iterator[tuple[str, int, Any]]:
    """(list, position in it, value) of each entry in the two lists of the object; ends where it ends."""
    walk = _Walk()
    for event, value in events:
        if event == "chunk":
            walk.count(value)
            continue
        done = walk.step(event, _checked(value))
        if done is not None:
            yield done
        if walk.ended:
            return


def _checked(value: Any) -> Any:
    if isinstance(value, str):
        return check_text(value)
    if isinstance(value, Decimal) and abs(value) >= Decimal(2) ** 1_024:
        raise BadBody("invalid JSON: a number is out of range")
    return value


class _Walk:
    """Where the parser stands in the object, and the entry that is being put together."""

    def __init__(self) -> None:
        self.ended = False
        self._depth = 0
        self._name = ""  # of the member that is open, in lower case
        self._place = 0
        self._builder: ObjectBuilder | None = None
        self._bytes = 0  # since the last event outside an entry

    def count(self, length: int) -> None:
        """Bounds what one value may take in memory."""
        self._bytes += length
        if self._bytes > settings.MAX_BODY_BYTES + CHUNK:
            raise TooLarge(f"A value exceeds {settings.MAX_BODY_BYTES} bytes.")

    def step(self, event: str, value: Any) -> tuple[str, int, Any] | None:
        """Goes on by one event; the entry that it completes, if any."""
        if self._builder is None:
            self._bytes = 0
        if event in CLOSING:
            self._depth -= 1
        level = self._depth  # at which the value stands
        if event in OPENING:
            self._depth += 1
        self._check(event, value, level)
        self.ended = level == self._depth == 0
        if event == "map_key" and level == 1:
            self._name, self._place = value.casefold(), 0
        elif self._builder is None and level == 2 and self._name in LISTS:
            self._builder = ObjectBuilder()
        if self._builder is None:
            return None
        self._builder.event(event, value)
        return self._finish() if self._depth == 2 else None

    def _finish(self) -> tuple[str, int, Any]:
        built = self._builder.value if self._builder else None
        self._builder = None
        self._place += 1
        return self._name, self._place - 1, built

    def _check(self, event: str, value: Any, level: int) -> None:
        """The root is an object or null, each of the two lists a list or null, and nothing nested deeply."""
        if self._depth > DEEPEST:
            raise BadBody(f"invalid JSON: it is nested deeper than {DEEPEST} levels")
        if event in (*CLOSING, "map_key", "null"):
            return
        shown = {"start_map": {}, "start_array": []}.get(event, value)
        if level == 0 and event != "start_map":
            raise BadBody(mismatch(shown, "Go value", "struct"))
        if level == 1 and self._name in LISTS and event != "start_array":
            raise BadBody(mismatch(shown, f"Go struct field {self._name}", "array"))
