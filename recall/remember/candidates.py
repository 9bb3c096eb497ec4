"""What was found in a turn, before anybody has decided that it is written. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

How = Literal["set", "add", "remove", "retract"]
MOST_FACTS = 50  # of one message: more are a list that somebody pasted
# Slots that hold several values, parted by commas.
LISTS = frozenset(("language", "family:children", "family:sons", "family:daughters", "family:twins"))


@dataclass(frozen=True, slots=True)
class Fact:
    """A value for one of the user's slots. `words`: the sentence it comes from, `clause`: the part of it that
    says so; empty if that is not known.

    `how`: `set` gives the slot the value, `add` puts it beside what the slot holds, `remove` takes it out of
    the list that the slot holds, `retract` ends the slot if it holds the value. A correction that does not
    say of what has no key, and in `replaces` the value that was wrong.
    """

    key: str
    value: str
    confidence: float
    words: str = ""
    how: How = "set"
    replaces: str = ""
    clause: str = ""

    @property
    def text(self) -> str:
        """As people are shown it."""
        return f"{self.key}: no longer {self.value}" if self.ends else f"{self.key}: {self.value}"

    @property
    def ends(self) -> bool:
        """Whether it says that something no longer holds."""
        return self.how in {"remove", "retract"}


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a turn is about. `losers` contradict a fact of the same answer, or each other; `summary` tells
    what happened or what is to be remembered, `lasting` whether it holds (or happened, otherwise); what was
    found but is not worth remembering is in `unworthy`."""

    facts: tuple[Fact, ...] = ()
    losers: tuple[Fact, ...] = ()
    summary: str = ""
    lasting: bool = False
    unworthy: tuple[str, ...] = field(default=())


def ended(fact: Fact) -> Fact:
    """The fact as one that no longer holds: of a list, the member."""
    return replace(fact, how="remove" if fact.key in LISTS else "retract")


def without(held: str, less: str) -> str | None:
    """What is left of a list without some members: empty if nothing is, None if it has none of them."""
    gone = {part.strip().casefold() for part in less.split(",")}
    members = [part.strip() for part in held.split(",") if part.strip()]
    left = [one for one in members if one.casefold() not in gone]
    return None if len(left) == len(members) else ", ".join(left)


def settle(facts: Iterable[Fact]) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """The facts that stand, and those that contradict one: of several values for one key the most confident
    stands; of an exact tie none does. What ends is no rival of what takes its place."""
    facts = list(facts)
    given = {fact.key: fact.value.casefold() for fact in facts if fact.how == "set"}
    by_key: dict[tuple[str, str], list[Fact]] = {}
    for number, fact in enumerate(facts):
        value = fact.value.casefold()
        if fact.ends and given.get(fact.key, value) != value:
            continue
        alone = fact.how == "add" or not fact.key
        apart = str(number) if alone else value if fact.ends and fact.key not in given else ""
        by_key.setdefault((fact.key, apart), []).append(fact)
    stand: list[Fact] = []
    lose: list[Fact] = []
    for rivals in by_key.values():
        winner, losers = _rule(rivals)
        stand += [winner] if winner else []
        lose += losers
    return tuple(stand), tuple(lose)


def _rule(rivals: Sequence[Fact]) -> tuple[Fact | None, list[Fact]]:
    best: dict[tuple[str, str], Fact] = {}
    for fact in rivals:
        same = (fact.how, fact.value.casefold())
        if same not in best or fact.confidence > best[same].confidence:
            best[same] = fact
    ranked = sorted(best.values(), key=lambda fact: -fact.confidence)
    if len(ranked) > 1 and ranked[0].confidence == ranked[1].confidence:
        return None, ranked
    return ranked[0], ranked[1:]
