"""Values that pass between episodes and their callers."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

from episodic.models import Episode
from episodic.record_tests import FieldTest, users_named


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
    """What an edit says anew, or under what it has it stand; the rest stays."""

    text: str
    topics: Sequence[str]
    entities: Sequence[str]
    outcome: str
    event_date: datetime | None
    metadata: dict[str, Any]
    agent_id: str
    project: str
    memory_type: str


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes are meant. None: any; otherwise equal to, or one of. Those that hold now, unless a
    moment is named, or with `history` all that ever held. `tests` must be met beside: they only take away, so
    that whom a key is bound to stays the only one whatever they name."""

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
    tests: tuple[FieldTest, ...] = ()

    def narrowed(self) -> "EpisodeFilter":
        """The same, by the one user whom the tests name if it names none itself: what is of one user has
        indexes of its own. So has what is nobody's, of one agent: `user_id` is then empty, which `confine`
        would take for anybody's, but for the tests."""
        named = users_named(self.tests)
        if self.user_id is None and named is not None and len(named) == 1 and (named[0] or self.agent_id):
            return replace(self, user_id=named[0])
        return self

    @property
    def names_subject_alone(self) -> bool:
        """Whether it admits all that holds of one user, of one agent, or of what is nobody's of one."""
        where = self.narrowed()
        rest = tuple(one for one in where.tests if not where.implies(one))
        return replace(where, tests=rest) == EpisodeFilter(user_id=where.user_id, agent_id=where.agent_id)

    def implies(self, test: FieldTest) -> bool:
        """Whether whatever is of its user meets the test."""
        return (test.field, test.operator, test.value) == ("user_id", "eq", self.user_id)


@dataclass(frozen=True, slots=True)
class EpisodeTraits:
    """What else a list may ask for; None: any. No search by meaning or words knows these."""

    origin: str | None = None
    outcome: str | None = None
    pinned: bool | None = None

    def admit(self, episode: Episode) -> bool:
        """Whether the episode is one of those."""
        return (
            self.origin in (None, episode.origin)
            and self.outcome in (None, episode.outcome)
            and self.pinned in (None, episode.pinned_at is not None)
        )


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A long-term record as a client saves it: an episode that it names, and may date, itself."""

    id: str | None  # None: the server names it
    text: str
    session_id: str = ""
    user_id: str | None = None
    namespace: str = ""
    created_at: datetime | None = None  # None: now, or as it is already
    event_date: datetime | None = None
    topics: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    memory_type: str = "semantic"
    pinned: bool = False
    access_count: int = 0
    last_accessed: datetime | None = None
    extracted_from: tuple[str, ...] = ()  # ids of messages
    extraction_strategy: str = "discrete"
    extraction_config: dict[str, Any] = field(default_factory=dict)
    extracted: Literal["t", "f"] = "t"
    metadata: dict[str, Any] = field(default_factory=dict)


class RecordChanges(TypedDict, total=False):
    """What an edit of a record says anew, whose it is to be, or where; the rest stays."""

    text: str
    topics: Sequence[str]
    entities: Sequence[str]
    memory_type: str
    namespace: str
    user_id: str
    session_id: str
    event_date: datetime | None
    pinned: bool


@dataclass(frozen=True, slots=True)
class SavedRecord:
    """What became of a record, and the episode that says it now: itself (`created`, `replaced`), the one that
    was there already (`dropped`), or the one that says what several said (`merged`)."""

    id: str
    episode: Episode
    outcome: Literal["created", "replaced", "dropped", "merged"]


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of the records, each id once, in the order in which the ids first came."""

    records: tuple[SavedRecord, ...]


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
