"""mem0: what `get_all` and `GET /memories` answer, as JSON or JSON Lines; its pgvector table; its server."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from episodic.types import NewRecord
from memoryproject.importing import fields
from memoryproject.importing.errors import SourceMalformed, Unusable
from memoryproject.importing.files import JsonFile
from memoryproject.importing.postgres import PostgresTable
from memoryproject.importing.rows import Junk, Memory, Row
from memoryproject.importing.web import WebSource

LISTS = ("results", "memories")
MOST = 1_000  # that its server answers at once; it has no pages
UNASKED = (20, 100)  # that a server answers which knows neither `top_k` nor `limit`
PREFIX = "mem0:"
# Of a row in the table: what is said elsewhere, or is derived from the text.
SAID = frozenset({
    "id", "memory", "data", "hash", "text_lemmatized", "user_id", "agent_id", "run_id", "created_at",
    "updated_at", "metadata", "categories", "score", "expiration_date",
})  # fmt: skip


class Mem0File:
    """An export in a file."""

    name = "mem0"

    def __init__(self, file: JsonFile) -> None:
        self._file, self.unit, self.total = file, file.unit, file.total

    @property
    def position(self) -> int:
        """In bytes."""
        return self._file.position

    def rows(self) -> Iterator[Row]:
        """Its memories."""
        for entry in self._file.entries(LISTS):
            yield entry if isinstance(entry, Junk) else row_of(entry.place, entry.value)


class Mem0Table:
    """A collection in PostgreSQL: `id`, `vector`, and `payload`, which is all that is known of a memory. The
    vectors are another model's, so they stay there."""

    name, unit = "mem0", " memories"

    def __init__(self, table: PostgresTable) -> None:
        self._table, self.total, self.position = table, table.total, 0

    def rows(self) -> Iterator[Row]:
        """Its memories, by their ids."""
        for found in self._table.rows(("id", "payload"), order="id"):
            self.position += 1
            place = f"row {found['id']}"
            payload = found["payload"]
            yield row_of(place, {**payload, "id": str(found["id"])} if isinstance(payload, dict) else payload)


class Mem0Server:
    """Its REST server, asked for one person's memories, or for all."""

    name, unit = "mem0", " memories"

    def __init__(self, web: WebSource, *, user_id: str) -> None:
        self._web, self._user_id = web, user_id
        self.total: int | None = None
        self.position = 0

    def rows(self) -> Iterator[Row]:
        """What it answers: no more than `MOST`, or than one of `UNASKED` if it is an older one. Whether that
        was all cannot be told then."""
        found = self._answered(MOST)
        self.total = len(found)
        for place, one in enumerate(found):
            self.position += 1
            yield row_of(f"results[{place}]", one)
        if len(found) >= MOST or (len(found) in UNASKED and len(self._answered(1)) > 1):
            raise SourceMalformed(
                f"{self._web.shown} answered {len(found)} memories, which is the most it ever does: there "
                "may be more. Name a person with --user, or its database instead of its server."
            )

    def _answered(self, most: int) -> list[Any]:
        answer = self._web.get("/memories", user_id=self._user_id, top_k=most, limit=most)
        found = answer.get("results", answer.get("memories")) if isinstance(answer, dict) else answer
        if not isinstance(found, list):
            raise SourceMalformed(f"{self._web.shown} does not answer /memories as mem0 does.")
        return found


def row_of(place: str, value: Any) -> Memory | Junk:
    """A memory as mem0 tells it, flat in its table or with `metadata` of its own in its answers."""
    try:
        return _memory(place, fields.as_object(value))
    except Unusable as error:
        return Junk(place, str(error), fields.sample_of(value))


def _memory(place: str, item: Mapping[str, Any]) -> Memory:
    text = fields.text(item, "memory", "data")
    user_id, agent_id, run_id = (fields.name(item, one) for one in ("user_id", "agent_id", "run_id"))
    own = fields.name(item, "id")
    _refuse_expired(item)
    record = NewRecord(
        id=PREFIX + own if own else fields.derived_id("mem0", user_id, agent_id, run_id, text),
        text=text,
        session_id=run_id,
        user_id=user_id or None,
        created_at=fields.moment(item, "created_at") or fields.moment(item, "updated_at"),
        topics=fields.texts(item, "categories"),
        metadata=_metadata(item),
    )
    fields.moment(item, "updated_at")  # a broken one tells that the row is broken
    return Memory(place, record, agent_id)


def _metadata(item: Mapping[str, Any]) -> dict[str, Any]:
    """What mem0 was given beside the text, and what it told of it."""
    beside = {name: value for name, value in item.items() if name not in SAID and value is not None}
    if item.get("expiration_date"):
        beside["expiration_date"] = str(item["expiration_date"])
    kept: dict[str, Any] = json.loads(json.dumps({**beside, **fields.members(item, "metadata")}, default=str))
    return kept


def _refuse_expired(item: Mapping[str, Any]) -> None:
    """On its last day a memory is still there; the days are UTC's."""
    value = item.get("expiration_date")
    if value in (None, ""):
        return
    try:
        last = date.fromisoformat(str(value)[:10])
    except ValueError:
        raise Unusable("expiration_date is a broken date") from None
    if last < datetime.now(UTC).date():
        raise Unusable("expired")
