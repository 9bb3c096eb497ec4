"""What the readers of live events speak of."""

from dataclasses import dataclass
from uuid import UUID

from working.models import Event

NOWHERE = UUID(int=0)  # before every session


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """Where a reader stands: behind that event. Without a session: behind all that transactions before that
    one wrote."""

    recorded_in: int
    session: UUID = NOWHERE
    seq: int = 0


@dataclass(frozen=True, slots=True)
class LiveEvent:
    """A committed event, and whose it is: the ids as clients know them, empty for none."""

    event: Event
    session_id: str
    namespace: str
    user_id: str
    agent_id: str
    project: str

    @property
    def position(self) -> Position:
        return Position(self.event.recorded_in, self.event.session_id, self.event.seq)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a listener is told: what it named, within the walls of its key; empty for any. The conditions are
    those of `COMMITTED`."""

    session_id: str = ""
    user_id: str = ""
    agent_id: str = ""
    project: str = ""
    event_types: frozenset[str] = frozenset()

    def admits(self, one: LiveEvent) -> bool:
        return (
            self.session_id in ("", one.session_id)
            and self.user_id in ("", one.user_id)
            and self.agent_id in ("", one.agent_id)
            and self.project in ("", one.project)
            and (not self.event_types or one.event.event_type in self.event_types)
        )
