"""LangGraph: the table of its PostgresStore, or items as JSON Lines."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from api.native.store_bodies import LONGEST_KEY, LONGEST_NAMESPACE, LONGEST_TTL, MOST_BYTES, MOST_LABELS
from episodic.item_types import path_text
from memoryproject.importing import fields
from memoryproject.importing.errors import Unusable
from memoryproject.importing.files import JsonFile
from memoryproject.importing.postgres import PostgresTable
from memoryproject.importing.rows import Junk, Row, StoreItem

COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")
LISTS = ("items", "results")


class StoreTable:
    """The table `store`. Vectors stay there: the values are embedded anew."""

    name, unit = "langgraph", " items"

    def __init__(self, table: PostgresTable) -> None:
        self._table, self.total, self.position = table, table.total, 0

    def rows(self) -> Iterator[Row]:
        """Its items, by namespace and key."""
        for found in self._table.rows(COLUMNS, order="prefix, key"):
            self.position += 1
            place = f"row {found['prefix']}/{found['key']}"
            yield row_of(place, {**found, "namespace": found["prefix"]})


class StoreFile:
    """Items as JSON Lines, or as a list: namespace, key, value, and what else there is of them."""

    name = "langgraph"

    def __init__(self, file: JsonFile) -> None:
        self._file, self.unit, self.total = file, file.unit, file.total

    @property
    def position(self) -> int:
        """In bytes."""
        return self._file.position

    def rows(self) -> Iterator[Row]:
        """Its items."""
        for entry in self._file.entries(LISTS):
            yield entry if isinstance(entry, Junk) else row_of(entry.place, entry.value)


def row_of(place: str, value: Any) -> StoreItem | Junk:
    """An item, which has not expired."""
    try:
        return _item(place, fields.as_object(value))
    except Unusable as error:
        return Junk(place, str(error), fields.sample_of(value))


def _item(place: str, item: Mapping[str, Any]) -> StoreItem:
    expires_at = fields.moment(item, "expires_at")
    if expires_at is not None and expires_at <= datetime.now(UTC):
        raise Unusable("expired")
    value, key = item.get("value"), fields.text(item, "key")
    if not isinstance(value, dict):
        raise Unusable("value is not an object")
    if len(key) > LONGEST_KEY:
        raise Unusable("key is too long")
    return StoreItem(
        place=place,
        namespace=_namespace(item),
        key=key,
        value=json.loads(json.dumps(value)),
        created_at=fields.moment(item, "created_at"),
        updated_at=fields.moment(item, "updated_at"),
        expires_at=expires_at,
        ttl_minutes=_minutes(item),
        user_id=fields.name(item, "user_id") or None,
    )


def _namespace(item: Mapping[str, Any]) -> tuple[str, ...]:
    """A list of labels, or the labels joined by dots as the table has them; none that no client of the store
    here could name."""
    named = item.get("namespace", item.get("prefix"))
    labels = named.split(".") if isinstance(named, str) else named
    if not isinstance(labels, list) or not labels:
        raise Unusable("namespace is missing")
    if not all(isinstance(one, str) and one for one in labels):
        raise Unusable("namespace has a label that is no text")
    if any("." in one for one in labels):
        raise Unusable("namespace has a label with a dot")
    told = path_text(tuple(labels))
    is_long = len(told) > LONGEST_NAMESPACE or len(told.encode()) > MOST_BYTES
    if is_long or len(labels) > MOST_LABELS or max(map(len, labels)) > fields.LONGEST_NAME:
        raise Unusable("namespace is too long")
    return tuple(labels)


def _minutes(item: Mapping[str, Any]) -> float | None:
    value = item.get("ttl_minutes")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_TTL:
        raise Unusable("ttl_minutes is not a number of minutes")
    return float(value)
