# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `memory` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class AssembledItem(Answer):
    """Part of `Assembled`."""

    kind: str
    id: str | None
    """Null of the request's own messages, and of what was not looked at."""
    score: float | None
    tokens: int
    """An estimate."""
    why: str
    ledger: str
    included: bool
    """Whether it is in the messages."""
    count: int
    """1; of slots beyond those that are told at once, how many."""


class RecallStage(Answer):
    """A step of a recall; what takes too long is left out, and the rest is answered."""

    name: str
    ms: float
    """Milliseconds that it took."""
    status: str


class SkippedMemory(Answer):
    """Something that was learned and is not kept."""

    text: str
    """Its beginning; what is sensitive is masked."""
    reason: str
    """As in /api/v1/write-decisions."""


class Spread(Answer):
    """Part of `Explanation`."""

    relevance: float
    """From 0 to 1, within the query."""
    likeness: float
    """To the likest of those above it, from 0 to 1."""
    taken_off: float
    """What that took off the relevance."""


class WrittenMemory(Answer):
    """Something that was learned and is kept."""

    kind: str
    id: str
    key: str | None = None
    """Of an entity: its slot."""
    text: str
    """What is kept."""


class Assembled(Answer):
    """What `assemble` answers."""

    messages: list[dict[str, Any]]
    items: list[AssembledItem]
    tokens: int
    """Of all messages: an estimate."""
    stages: list[RecallStage]
    query_used: str
    """What episodes were searched for."""


class Explanation(Answer):
    """How a score came about."""

    rank: int
    """From 1 on."""
    arm: str
    """Which search found it."""
    added: dict[str, float]
    """By each signal to the score."""
    model: str
    """Of the vectors."""
    formula: str
    """How the parts make the score."""
    variant: str | None
    """The setting of a trial that ranked; null: there is none."""
    mmr: Spread | None = None
    """Only with `mmr`."""


class Remembered(Answer):
    """What `remember` answers."""

    written: list[WrittenMemory]
    skipped: list[SkippedMemory]
    extractor: str
    """Who found it."""


class RecallHit(Answer):
    """A memory that was recalled."""

    kind: str
    id: str
    text: str
    """What is remembered."""
    score: float
    """Comparable within its kind."""
    signals: dict[str, float]
    memory_type: str | None
    session_id: str | None
    user_id: str | None
    agent_id: str | None
    topics: list[str]
    event_date: datetime | None
    """When it happened."""
    covers_turns: list[int] | None
    metadata: dict[str, Any]
    created_at: datetime
    explain: Explanation | None = None


class RecallAnswer(Answer):
    """What `recall` answers."""

    results: list[RecallHit]
    stages: list[RecallStage]
    query_used: str
    """What was looked for: of a vague query, with what was said last."""
