# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `observations` answers."""

from datetime import datetime

from ..answer import Answer


class Observation(Answer):
    """What `observations.get` answers."""

    id: int
    user_id: str | None
    agent_id: str | None
    project: str
    session_id: str | None
    scope: str
    type: str
    title: str
    content: str
    tags: list[str]
    topic_key: str | None
    revision_count: int
    """How often its topic was saved."""
    duplicate_count: int
    """How often it was said."""
    last_seen_at: datetime | None
    promoted_to: str | None
    embedded: bool
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    """When it went to the trash."""


class ObservationRevision(Answer):
    """Part of `ObservationRevisionPage`."""

    number: int
    """1 is what it said first."""
    type: str
    title: str
    content: str
    tags: list[str]
    replaced_at: datetime
    replaced_by: str


class ObservationPage(Answer):
    """A page of `Observation`; with `next` as `cursor` comes the one behind it."""

    results: list[Observation]
    next: str | None


class ObservationRevisionPage(Answer):
    """A page of `ObservationRevision`; with `next` as `cursor` comes the one behind it."""

    results: list[ObservationRevision]
    next: str | None
