"""Values that pass between the modules of extraction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from episodic.models import MemoryType
from recall.extracting.config import Strategy
from tenants.jobs.kinds import Task
from tenants.policy.document import Policy
from working.extracted import Said
from working.models import Session

Extractor = Literal["rules", "llm"]


@dataclass(frozen=True, slots=True)
class Material:
    """What was said and not looked at yet, and shortly before that; for a summary the whole of it. `upto` is
    the number of the newest turn that this is about, `after` that of the last one that was looked at."""

    task: Task
    session: Session
    policy: Policy
    strategy: Strategy
    after: int
    upto: int
    messages: tuple[Said, ...]
    earlier: tuple[Said, ...] = ()
    thread: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may become a record. `sources`: the numbers of the turns that say it; `words`: those in which they
    do, as far as they are known. `refusal`: why it is none, if that is known already."""

    text: str
    memory_type: str = MemoryType.SEMANTIC
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    event_date: datetime | None = None
    sources: tuple[int, ...] = ()
    words: str = ""
    refusal: str = ""
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates, with what each record says of how it was found."""

    candidates: tuple[Candidate, ...]
    config: Mapping[str, Any]
    metadata: Mapping[str, Any]
