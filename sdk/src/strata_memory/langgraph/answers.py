"""What the server answers to the operations of a batch, in LangGraph's types."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

from langgraph.store.base import Item, SearchItem
from pydantic import TypeAdapter, ValidationError

from ..errors import InvalidAnswer
from ..models.store import FoundStoreItem, StoreItem

SHAPES: dict[str, TypeAdapter[Any]] = {
    "get": TypeAdapter(StoreItem | None),
    "search": TypeAdapter(list[FoundStoreItem]),
    "namespaces": TypeAdapter(list[list[str]]),
    "put": TypeAdapter(None),
    "delete": TypeAdapter(None),
}


def read(asked: Sequence[dict[str, Any]], told: Sequence[Any]) -> list[Any]:
    """An answer for each operation of a request. Raises InvalidAnswer, also where one has none: what was
    put is not taken for kept unless that is told."""
    if len(told) != len(asked):
        raise InvalidAnswer(f"{len(asked)} operations were asked for, and {len(told)} are answered.")
    return [_read(wire["op"], one) for wire, one in zip(asked, told, strict=True)]


def item(found: StoreItem) -> Item:
    """One that was asked for by its name."""
    return Item(**_members(found))


def search_item(found: FoundStoreItem) -> SearchItem:
    """One that was searched for."""
    return SearchItem(**_members(found), score=found.score)


def _read(op: str, told: Any) -> Any:
    try:
        return SHAPES[op].validate_python(told)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise InvalidAnswer(f"The answer to {op!r} is not what Strata answers: {first['msg']}.") from None


def _members(found: StoreItem | FoundStoreItem) -> dict[str, Any]:
    return {
        "namespace": tuple(found.namespace),
        "key": found.key,
        "value": found.value,
        "created_at": found.created_at.astimezone(UTC),
        "updated_at": found.updated_at.astimezone(UTC),
    }
