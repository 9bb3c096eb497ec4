"""Values that pass between episodes and their callers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict
from uuid import UUID

from episodic.models import Episode


@dataclass(frozen=True, slots=True)
class NewEpisode:
    """What a caller gives; the rest of an episode is the server's."""

    text: str
    user_id: str | None = None
    agent_id: str | None = None
    project: str | None = None
    session_id: str = ""
    namespace: str = ""
    memory_type: str = "episodic"
    origin: str = "saved"
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    outcome: str = ""
    key_decisions: Any = None
    entities_mentioned: Any = None
    tools_called: Any = None
    covers_turns: tuple[int, int] | None = None
    event_date: datetime | None = None
    valid_from: datetime | None = None  # now
    metadata: dict[str, Any] = field(default_factory=dict)


class EpisodeChanges(TypedDict, total=False):
    """What an edit says anew; the rest stays."""

    text: str
    topics: Sequence[str]
    entities: Sequence[str]
    outcome: str
    event_date: datetime | None
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes are meant. None: any; otherwise equal to, or one of. Those that hold now, unless a
    moment is named, or with `history` all that ever held."""

    user_id: str | None = None
    agent_id: str | None = None
    project: str | None = None
    session_id: str | None = None
    namespace: str | None = None
    memory_types: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    history: bool = False


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An episode and its cosine similarity to the query, from -1 to 1."""

    episode: Episode
    cosine: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which candidates a ranking wants: so many of the nearest and of the newest, none written earlier."""

    nearest: int
    newest: int
    written_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a ranking looks at in an episode."""

    episode_id: UUID
    cosine: float
    is_new: bool  # found for its age alone: not among the nearest
    happened_at: datetime
    names: list[str]  # its entities and topics
    text: str  # empty unless it was asked for
