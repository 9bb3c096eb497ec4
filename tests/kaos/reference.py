"""What KAOS's in-memory implementation does, told as rules (docs/kaos.md), to run beside the server."""

from collections import deque
from dataclasses import dataclass, field
from itertools import count


@dataclass
class Kept:
    """A session of the model: its events by id and type, and when it was used."""

    user: str
    events: deque[tuple[str, str]]
    used: int


@dataclass
class Model:
    """A memory with bounds; moments are numbers in the order of the calls."""

    sessions: int
    events: int
    kept: dict[str, Kept] = field(default_factory=dict)
    clock: "count[int]" = field(default_factory=count)

    def create(self, session: str, user: str) -> None:
        if len(self.kept) >= self.sessions:
            oldest = sorted(self.kept, key=lambda one: self.kept[one].used)
            for one in oldest[: max(1, self.sessions // 10)]:
                del self.kept[one]
        self.kept[session] = Kept(user, deque(maxlen=self.events), next(self.clock))

    def get_or_create(self, session: str, user: str) -> None:
        if session not in self.kept:
            self.create(session, user)

    def add(self, session: str, event: str, kind: str) -> bool:
        if session not in self.kept:
            return False
        self.kept[session].events.append((event, kind))
        self.kept[session].used = next(self.clock)
        return True

    def delete(self, session: str) -> bool:
        return self.kept.pop(session, None) is not None

    def last(self, limit: int) -> list[str]:
        every = [event for one in self.kept.values() for event, _kind in one.events]
        return every[-limit:]
