"""What the doctor has found out. Pure."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """What should be known, of whom, and how the agent asks for it."""

    fact: str
    query: str
    user_id: str | None
    session_id: str | None
    agent_id: str | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory that `says` the fact, or is only like it. `state`: holds, pending, superseded, retracted, not
    yet, or trashed."""

    kind: str
    id: str
    text: str
    share: float  # of the fact's words, or its cosine where `by_meaning`
    state: str
    agent_id: str | None
    embedded: bool = True
    ended_at: str | None = None
    by_meaning: bool = False
    key: str | None = None  # of a slot
    says: bool = True


@dataclass(frozen=True, slots=True)
class Decision:
    """A write that was refused or held back, of what `says` the fact, or is only like it."""

    id: str
    outcome: str
    reason: str
    text: str
    share: float
    confirmable: bool
    created_at: str
    says: bool = True


@dataclass(frozen=True, slots=True)
class Search:
    """What recall answers. `rank` of the memory, 1 the best, None if it is not among the `looked_at`;
    `is_told`: it is among the `usual` ones, that an agent is given which does not say how many it wants."""

    rank: int | None
    is_told: bool
    usual: int
    looked_at: int
    hit: dict[str, Any] | None
    hits: tuple[dict[str, Any], ...]
    stages: tuple[dict[str, Any], ...]

    @property
    def broken(self) -> tuple[str, ...]:
        """The stages that were failed or skipped."""
        return tuple(f"{one['name']} {one['status']}" for one in self.stages if one["status"] != "ok")


@dataclass(frozen=True, slots=True)
class Talk:
    """The session. `said_at`: the numbers of its events that say the fact; `first` is that of the oldest
    that is left, None without any."""

    is_there: bool
    idle_seconds: float = 0.0
    ended_at: str | None = None
    first: int | None = None
    said_at: tuple[int, ...] = ()
    is_in_window: bool = False
    told_at: str | None = None  # the memory that was found was told to this session


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything; None is what could not be found out with this key."""

    checks: dict[str, str]  # of /ready
    status: str
    scopes: tuple[str, ...] = ()
    restricted: bool | None = None
    erased_at: str | None = None
    policy: dict[str, Any] | None = None
    looked_through: int = 0  # memories that were compared with the fact, word by word
    memories: tuple[Memory, ...] = ()
    decisions: tuple[Decision, ...] = ()
    search: Search | None = None
    talk: Talk | None = None

    def limit(self, section: str, name: str) -> float | None:
        """A number of the policy that holds, None where it is not known."""
        fields = (self.policy or {}).get(section)
        value = fields.get(name) if isinstance(fields, dict) else None
        return value if isinstance(value, int | float) else None

    @property
    def held(self) -> Memory | None:
        """The memory that says the fact and holds."""
        return next((one for one in self.memories if one.says and one.state == "holds"), None)

    @property
    def alike(self) -> Memory | None:
        """The likest of those that do not say the fact; one that holds before one that does not."""
        return next((one for one in self.memories if not one.says), None)

    @property
    def sought(self) -> Memory | None:
        """The memory that recall should bring: that which says the fact, else the likest, if it holds."""
        alike = self.alike
        return self.held or (alike if alike is not None and alike.state == "holds" else None)
