"""What a second setting changed: each memory's place before and after. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recall.lab import Shown, Tried

Way = Literal["up", "down", "same", "new", "gone"]
WAYS: tuple[Way, ...] = ("up", "down", "new", "gone", "same")


@dataclass(frozen=True, slots=True)
class Move:
    """A memory with its place by the first setting and by the second; None where that does not answer it."""

    hit: Shown
    before: int | None
    after: int | None

    @property
    def way(self) -> Way:
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        return "same" if self.by == 0 else "up" if self.by > 0 else "down"

    @property
    def by(self) -> int:
        """How many places higher; 0 for what has no two."""
        return self.before - self.after if self.before and self.after else 0


@dataclass(frozen=True, slots=True)
class Moves:
    """All of them: the second answer in its order, then what it lacks of the first."""

    rows: tuple[Move, ...]

    @property
    def counts(self) -> list[tuple[Way, int]]:
        """How many went each way; only ways that some went."""
        ways = [one.way for one in self.rows]
        return [(way, ways.count(way)) for way in WAYS if way in ways]

    @property
    def is_nothing(self) -> bool:
        """Whether both answers are the same in the same order."""
        return all(one.way == "same" for one in self.rows)


def moves_of(tried: Sequence[Tried]) -> Moves | None:
    """Between two settings; None where there is one."""
    if len(tried) != 2:
        return None
    first, second = tried
    before = {(hit.kind, hit.id): hit.place for hit in first.results}
    after = {(hit.kind, hit.id) for hit in second.results}
    rows = [Move(hit, before.get((hit.kind, hit.id)), hit.place) for hit in second.results]
    rows += [Move(hit, hit.place, None) for hit in first.results if (hit.kind, hit.id) not in after]
    return Moves(tuple(rows))
