"""Values that pass between observations and their callers."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from lexical.averages import Average
from observations.models import Observation

Action = Literal["created", "updated", "deduplicated"]
MatchMode = Literal["all", "any", "hybrid"]
Method = Literal["topic_key", "bm25", "hybrid", "recency"]
Sort = Literal["newest", "updated"]
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
    """What is to be changed of an observation; None stays as it is. `session_id`: empty for none."""

    type: str | None = None
    title: str | None = None
    content: str | None = None
    tags: tuple[str, ...] | None = None
    project: str | None = None
    scope: str | None = None
    topic_key: str | None = None
    session_id: str | None = None


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
class Selection:
    """Which observations a person has in view. Empty: any. A project's are its own alone, unlike a filter's;
    `ids`: no others than these; `text`: what is searched for."""

    text: str = ""
    project: str = ""
    type: str = ""
    scope: str = ""
    tag: str = ""
    user_id: str = ""
    agent_id: str = ""
    session_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    trashed: bool = False
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An observation, how it was found, and its rank: below 0, and the smaller the better. `signals` of a
    hybrid one are what its rank is weighed from, each from 0 to 1; `average` is that of all candidates."""

    observation: Observation
    rank: float
    method: Method
    signals: dict[str, float] = field(default_factory=dict)
    average: Average | None = None
