"""What the isolation self-test tried, and what came of it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["leaked", "refused", "unproved"]
WORST_FIRST: tuple[Outcome, ...] = ("leaked", "unproved", "refused")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way across: by which door, at what, how, what came of it and what refused it.

    `bait` is what was there to take, as was seen by whom it belongs to. Without it nothing could be proved,
    and the outcome is `unproved`, unless something came across all the same.
    """

    door: str
    target: str
    how: str
    outcome: Outcome
    by: str = ""
    bait: str = ""

    @property
    def name(self) -> str:
        """For the log."""
        return f"{self.door}: {self.target}: {self.how}"


@dataclass(frozen=True, slots=True)
class Row:
    """What was tried at one target, each way in its place."""

    target: str
    attempts: tuple[Attempt, ...]

    @property
    def bait(self) -> str:
        """What was there to take; empty: nothing."""
        return next((one.bait for one in self.attempts if one.bait), "")

    @property
    def why_unproved(self) -> str:
        """Why one of the ways proves nothing; empty: all do."""
        return next((one.by for one in self.attempts if one.outcome == "unproved"), "")


@dataclass(frozen=True, slots=True)
class DoorResult:
    """What was tried at one door, the worst first. With `columns`, each target was tried in all of these
    ways."""

    name: str
    about: str
    columns: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    @property
    def rows(self) -> list[Row]:
        """By target, in the order of the columns."""
        by_target: dict[str, dict[str, Attempt]] = {}
        for one in self.attempts:
            by_target.setdefault(one.target, {})[one.how] = one
        return [Row(name, tuple(ways[how] for how in self.columns)) for name, ways in by_target.items()]

    @property
    def leaked(self) -> int:
        return count(self.attempts, "leaked")

    @property
    def refused(self) -> int:
        return count(self.attempts, "refused")

    @property
    def unproved(self) -> int:
        return count(self.attempts, "unproved")

    @property
    def verdict(self) -> Outcome:
        """`refused` if nothing leaked and something was refused."""
        return "leaked" if self.leaked else "refused" if self.refused else "unproved"


@dataclass(frozen=True, slots=True)
class SelfTest:
    """All attempts door by door, and what they took in milliseconds."""

    doors: tuple[DoorResult, ...]
    ms: float

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        """Of all doors."""
        return tuple(one for door in self.doors for one in door.attempts)

    @property
    def leaks(self) -> tuple[Attempt, ...]:
        """Those that got across."""
        return tuple(one for one in self.attempts if one.outcome == "leaked")

    @property
    def refused(self) -> int:
        """How many something refused."""
        return count(self.attempts, "refused")

    @property
    def proving_nothing(self) -> tuple[Attempt, ...]:
        """Those with nothing there to take, or no answer."""
        return tuple(one for one in self.attempts if one.outcome == "unproved")

    @property
    def unproved(self) -> int:
        """How many they are."""
        return len(self.proving_nothing)

    @property
    def is_tight(self) -> bool:
        """Whether nothing leaked."""
        return not self.leaks


def result_of(name: str, about: str, columns: tuple[str, ...], attempts: Iterable[Attempt]) -> DoorResult:
    """The door's, with its attempts in order."""
    worst_first = sorted(attempts, key=lambda one: WORST_FIRST.index(one.outcome))
    return DoorResult(name, about, columns, tuple(worst_first))


def count(attempts: Iterable[Attempt], outcome: Outcome) -> int:
    """How many ended so."""
    return sum(one.outcome == outcome for one in attempts)
