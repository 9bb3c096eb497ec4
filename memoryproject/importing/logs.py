"""Sessions as sources tell them, cut into logs of `EVENTS` events. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoryproject.importing.rows import EVENTS, Log, LogEvent


@dataclass(frozen=True, slots=True)
class Talk:
    """A session with all its events."""

    place: str
    session_id: str
    events: Sequence[LogEvent]
    user_id: str | None = None
    namespace: str = ""
    agent_id: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    context: str = ""

    def logs(self) -> Iterator[Log]:
        """The session in pieces; one without events is a piece as well, for what else it holds."""
        for start in range(0, len(self.events) or 1, EVENTS):
            yield Log(
                place=self.place,
                session_id=self.session_id,
                events=tuple(self.events[start : start + EVENTS]),
                user_id=self.user_id,
                namespace=self.namespace,
                agent_id=self.agent_id,
                data=self.data if start == 0 else None,
                context=self.context if start == 0 else "",
            )
