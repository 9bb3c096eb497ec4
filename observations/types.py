"""Values that pass between observations and their callers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from observations.models import Observation

Action = Literal["created", "updated", "deduplicated"]
MatchMode = Literal["all", "any", "hybrid"]
Method = Literal["topic_key", "bm25", "hybrid", "recency"]
GLOBAL = "global"  # the scope that is seen from every project


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What a caller gives; the rest of an observation is the server's."""

    session_id: str
    type: str
    title: str
    content: str
    project: str
    scope: str = "project"
    topic_key: str = ""
    tags: tuple[str, ...] = ()
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be changed of an observation; None stays as it is."""

    type: str | None = None
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a write: the observation that now says it, and by which tier."""

    action: Action
    observation: Observation


@dataclass(frozen=True, slots=True)
class ObservationFilter:
    """Which observations are meant. None: any. A project's include the global ones of every project."""

    project: str | None = None
    type: str | None = None
    scope: str | None = None
    user_id: str | None = None
    session_id: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An observation, how it was found, and its rank: below 0, and the smaller the better."""

    observation: Observation
    rank: float
    method: Method
