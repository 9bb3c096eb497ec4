# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `entities` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer
from .several import Entity


class FoundEntity(Answer):
    """What a slot of a user holds, or held."""

    id: str
    user_id: str
    key: str
    value: Any
    confidence: float
    """How sure it is, from 0 to 1."""
    status: str
    valid_from: datetime
    valid_to: datetime | None
    """Null: it holds, or waits."""
    superseded_by: str | None
    source: str | None
    source_session: str | None
    source_turn: int | None
    agent_id: str | None
    pinned: bool
    embedded: bool
    """Whether its meaning is indexed yet."""
    created_at: datetime
    updated_at: datetime
    score: float | None = None
    """Likeness to `query`, where one is given."""


class EntityHistoryPage(Answer):
    """A page of `Entity`; with `next` as `cursor` comes the one behind it."""

    results: list[Entity]
    next: str | None


class EntityPage(Answer):
    """A page of `FoundEntity`; with `next` as `cursor` comes the one behind it."""

    results: list[FoundEntity]
    next: str | None
