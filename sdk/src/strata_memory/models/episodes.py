# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `episodes` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer


class Episode(Answer):
    """A memory in words, and how long it holds."""

    id: str
    text: str
    memory_type: str
    user_id: str | None
    agent_id: str | None
    project: str | None
    session_id: str | None
    namespace: str
    topics: list[str]
    entities: list[str]
    outcome: str | None
    """How it ended."""
    key_decisions: Any
    entities_mentioned: Any
    tools_called: Any
    covers_turns: list[int] | None
    event_date: datetime | None
    """When it happened."""
    metadata: dict[str, Any]
    embedded: bool
    """Whether its meaning is indexed yet."""
    valid_from: datetime
    valid_to: datetime | None
    """When it ceased to hold; null: it holds."""
    superseded_by: str | None
    """The episode that holds instead."""
    pinned_at: datetime | None
    created_at: datetime
    updated_at: datetime | None
    version: int
    """The entity tag."""


class EpisodeRevision(Answer):
    """Part of `EpisodeRevisionPage`."""

    number: int
    """1, 2, 3 …: the oldest is 1."""
    text: str
    topics: list[str]
    entities: list[str]
    outcome: str | None
    event_date: datetime | None
    metadata: dict[str, Any]
    replaced_at: datetime
    replaced_by: str


class ReadEpisode(Answer):
    """A memory in words, and how long it holds."""

    id: str
    text: str
    memory_type: str
    user_id: str | None
    agent_id: str | None
    project: str | None
    session_id: str | None
    namespace: str
    topics: list[str]
    entities: list[str]
    outcome: str | None
    """How it ended."""
    key_decisions: Any
    entities_mentioned: Any
    tools_called: Any
    covers_turns: list[int] | None
    event_date: datetime | None
    """When it happened."""
    metadata: dict[str, Any]
    embedded: bool
    """Whether its meaning is indexed yet."""
    valid_from: datetime
    valid_to: datetime | None
    """When it ceased to hold; null: it holds."""
    superseded_by: str | None
    """The episode that holds instead."""
    pinned_at: datetime | None
    created_at: datetime
    updated_at: datetime | None
    version: int
    """The entity tag."""
    last_accessed_at: datetime | None
    """When recall last told it; null: never."""
    access_count: int
    """How often, 15 minutes or more apart."""


class StoredEpisode(Answer):
    """A memory in words, and how long it holds."""

    id: str
    text: str
    memory_type: str
    user_id: str | None
    agent_id: str | None
    project: str | None
    session_id: str | None
    namespace: str
    topics: list[str]
    entities: list[str]
    outcome: str | None
    """How it ended."""
    key_decisions: Any
    entities_mentioned: Any
    tools_called: Any
    covers_turns: list[int] | None
    event_date: datetime | None
    """When it happened."""
    metadata: dict[str, Any]
    embedded: bool
    """Whether its meaning is indexed yet."""
    valid_from: datetime
    valid_to: datetime | None
    """When it ceased to hold; null: it holds."""
    superseded_by: str | None
    """The episode that holds instead."""
    pinned_at: datetime | None
    created_at: datetime
    updated_at: datetime | None
    version: int
    """The entity tag."""
    supersedes: list[str]
    """Those that hold no more because of it."""


class EpisodePage(Answer):
    """A page of `ReadEpisode`; with `next` as `cursor` comes the one behind it."""

    results: list[ReadEpisode]
    next: str | None


class EpisodeRevisionPage(Answer):
    """A page of `EpisodeRevision`; with `next` as `cursor` comes the one behind it."""

    results: list[EpisodeRevision]
    next: str | None
