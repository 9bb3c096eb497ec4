# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `store` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class FoundStoreItem(Answer):
    """An item that was searched for."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: datetime
    """When it was put first."""
    updated_at: datetime
    """When it was put last."""
    score: float | None
    """How near it is: the more, the nearer; null without a query."""


class StoreBatch(Answer):
    """What `store.batch` answers."""

    results: list[Any]
    """Of each operation: an item or null, items, namespaces, or null for what was written."""


class StoreItem(Answer):
    """A JSON object under its name."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: datetime
    """When it was put first."""
    updated_at: datetime
    """When it was put last."""


class StoreNamespaces(Answer):
    """What `store.namespaces` answers."""

    results: list[list[str]]


class FoundStoreItems(Answer):
    """What `store.search` answers."""

    results: list[FoundStoreItem]
