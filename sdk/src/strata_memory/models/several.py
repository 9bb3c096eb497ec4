# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What more than one group answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class Decision(Answer):
    """What `episodes.create` answers."""

    id: str
    kind: str
    """What it would have been: entity, episode, summary."""
    key: str | None
    """Of an entity: its slot."""
    outcome: str
    reason: str
    findings: list[str]
    """What was found, such as `card:number`."""
    text: str
    """The beginning, with what is sensitive masked."""
    confidence: float | None
    confirmable: bool
    """Whether it can still be written."""
    memory_id: str | None
    """What it became once confirmed."""
    user_id: str | None
    agent_id: str | None
    project: str | None
    session_id: str | None
    decided_by: str | None
    decided_at: datetime | None
    created_at: datetime


class Entity(Answer):
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


class Job(Answer):
    """Work in the background."""

    id: str
    kind: str
    state: str
    done: int
    """Of `total`."""
    total: int | None
    result: Any
    error: str | None
    """Why it failed."""
    attempts: int
    created_at: datetime
    finished_at: datetime | None
