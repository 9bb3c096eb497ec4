# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `sessions` answers."""

from datetime import datetime
from typing import Any

from ..answer import Answer
from .several import Entity


class AppendedEvents(Answer):
    """What `sessions.append_event` answers."""

    accepted: int
    """Events that are new."""
    duplicates: int
    """Events that the session knew."""
    seq: list[int]
    """Their numbers in the log."""


class AppendedTurns(Answer):
    """What `sessions.append_turns` answers."""

    accepted: int
    """Turns that are new."""
    duplicates: int
    """Turns that the session knew."""
    turn_count: int
    """Turns of the session now."""
    summarised: bool
    """Whether older turns went into the summary."""


class CleanedUp(Answer):
    """What `sessions.clean_up` answers."""

    removed: int


class EndedSession(Answer):
    """What `sessions.end` answers."""

    session_id: str
    summary: str
    episode_id: str | None
    """The episode that became of it, if one did."""
    message_count: int


class Event(Answer):
    """An entry of a session's log: a turn, or anything else that happened."""

    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    event_id: str | None
    seq: int
    """Its number in the log."""
    event_type: str
    role: str | None
    """A turn's."""
    content: Any
    metadata: dict[str, Any]
    timestamp: datetime


class Message(Answer):
    """A turn as a chat API takes it."""

    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    role: str
    content: Any


class Session(Answer):
    """A conversation, and how far it has come."""

    session_id: str
    namespace: str
    user_id: str | None
    agent_id: str | None
    project: str | None
    metadata: dict[str, Any]
    turn_count: int
    """Turns so far."""
    summary: str | None
    """The running summary."""
    started_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    """Null: it goes on."""


class SessionStats(Answer):
    """What `sessions.stats` answers."""

    total_sessions: int
    total_events: int
    avg_events_per_session: int


class StartEpisode(Answer):
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
    score: float | None
    """For `query`; null for one of the newest."""


class StartProcedure(Answer):
    """Part of `StartedSession`."""

    name: str
    version: str
    body: str


class EventPage(Answer):
    """A page of `Event`; with `next` as `cursor` comes the one behind it."""

    results: list[Event]
    next: str | None


class SessionPage(Answer):
    """A page of `Session`; with `next` as `cursor` comes the one behind it."""

    results: list[Session]
    next: str | None


class StartedSession(Answer):
    """What `sessions.start` answers."""

    session: Session
    entities: list[Entity]
    entities_left_out: int
    """Slots that hold beside those."""
    episodes: list[StartEpisode]
    procedures: list[StartProcedure]


class Window(Answer):
    """What a model is shown of a session."""

    messages: list[Message]
    summary: str | None
    """The running summary."""
    truncated: bool
    """Whether turns are left out."""
    tokens: int
    """Of all messages."""
