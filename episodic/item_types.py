"""Values that pass between items and their callers."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from tenants.caller import Caller

ID_PREFIX = (
    "item:"  # of what the episode goes by that says an item; no record of its namespace has such an id
)
Distance = Literal["cosine", "l2", "inner_product"]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class ItemScope:
    """Whose items: exactly this user's, agent's and project's; empty: of none."""

    user_id: str = ""
    agent_id: str = ""
    project: str = ""


@dataclass(frozen=True)
class ItemName:
    """What an item goes by."""

    whose: ItemScope
    path: Path
    key: str

    @cached_property
    def digest(self) -> str:
        """The same for no other item of the same user."""
        told = [self.whose.agent_id, self.whose.project, list(self.path), self.key]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @property
    def external_id(self) -> str:
        """What the episode goes by that says what the item says."""
        return f"{ID_PREFIX}{self.digest}"


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to be put. `index`: the paths of its value that it is found by, None for all of it. `vectors`
    are the client's own, each with the field that it was made of, of one length. `created_at` and
    `updated_at` are those of an item that comes from elsewhere."""

    name: ItemName
    value: dict[str, Any]
    index: tuple[str, ...] | None = None
    ttl_minutes: float | None = None
    vectors: tuple[tuple[str, tuple[float, ...]], ...] = ()
    created_at: datetime | None = None  # now
    updated_at: datetime | None = None  # now

    def moments(self, now: datetime) -> tuple[datetime, datetime]:
        """When it was created and updated, neither later than now."""
        created_at = self.created_at or self.updated_at or now
        return min(created_at, now), min(self.updated_at or created_at, now)


@dataclass(frozen=True, slots=True)
class ItemGet:
    """One item is asked for; `refresh`: if it expires, it begins to do so anew."""

    name: ItemName
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class ItemSearch:
    """Items below a namespace are asked for: those nearest to `vector` by the client's vectors, else to
    `query` by the server's, else those put last. `where` are conditions on fields of the value."""

    whose: ItemScope
    prefix: Path = ()
    query: str = ""
    vector: tuple[float, ...] = ()
    distance: Distance = "cosine"
    where: dict[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class NamespaceMatch:
    """What a namespace begins or ends with; `*` is any one label."""

    match_type: Literal["prefix", "suffix"]
    path: Path


@dataclass(frozen=True, slots=True)
class NamespaceList:
    """The namespaces that hold items are asked for, each cut off after `max_depth` labels."""

    whose: ItemScope
    matches: tuple[NamespaceMatch, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


ItemRead = ItemGet | ItemSearch | NamespaceList


def item_scope(
    caller: Caller, *, user_id: str | None = None, agent_id: str | None = None, project: str | None = None
) -> ItemScope:
    """Whose items are meant: the key's, and where it is not bound, those that are named. Raises Forbidden."""
    return ItemScope(
        caller.confine_user(user_id), caller.confine_agent(agent_id), caller.confine_project(project)
    )


def path_text(path: Path) -> str:
    """The namespace as it is stored."""
    return "".join(f"{label}." for label in path)
