"""What sources are read as, whichever they are: one row after another. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from episodic.types import NewRecord
from recall.transfer import Row as ExportRow
from working.transfer import ImportedSession
from working.types import NewEvent

Kind = Literal["memories", "events", "sessions", "observations", "items", "entries"]


@dataclass(frozen=True, slots=True)
class Memory:
    """A long-term memory; `place` says where in the source it stands."""

    place: str
    record: NewRecord
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """An event of a session. `is_dated`: the source tells of its moment; else that is when it was read, which
    says nothing about how old it is."""

    place: str
    event: NewEvent
    is_dated: bool = True


@dataclass(frozen=True, slots=True)
class Log:
    """Events of one session in their order, at most `EVENTS` of them. `data` and `context`, what else the
    session holds, come with its first."""

    place: str
    session_id: str
    events: tuple[LogEvent, ...]
    user_id: str | None = None
    namespace: str = ""
    agent_id: str = ""
    data: Mapping[str, Any] | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """A session or observation as one project's export tells it; `is_dated` as of an event."""

    place: str
    row: ExportRow
    is_dated: bool = True

    @property
    def user_id(self) -> str | None:
        """Whose it says that it is."""
        return self.row.user_id if isinstance(self.row, ImportedSession) else self.row.new.user_id


@dataclass(frozen=True, slots=True)
class StoreItem:
    """A value under a key in a namespace. `expires_at` None: never."""

    place: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    ttl_minutes: float | None = None
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Junk:
    """What stands at the place and cannot be used, and why. `sample` is as it came: to be masked."""

    place: str
    reason: str
    sample: str = ""


Row = Memory | Log | Exported | StoreItem | Junk
EVENTS = 200  # of a session that are read, and written, at once


class Source(Protocol):
    """Something to import from."""

    @property
    def name(self) -> str:
        """Of the kind of source."""
        ...

    @property
    def unit(self) -> str:
        """What progress is counted in."""
        ...

    @property
    def total(self) -> int | None:
        """How much there is; None: nobody knows."""
        ...

    @property
    def position(self) -> int:
        """How much of it was read."""
        ...

    def rows(self) -> Iterator[Row]:
        """Everything in it, in the same order each time. Raises ImportFailed when it cannot go on."""
        ...
