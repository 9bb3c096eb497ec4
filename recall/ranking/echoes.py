"""Turns that say nothing beside the query: those that ask the same, and those that say again what a better
one has said. Pure."""

import re
import unicodedata
from dataclasses import dataclass, field

BEHIND = 0.1  # by which the best echo lies below whatever is none

_SPEAKER = re.compile(r"\s*[^\W\d][^:\n]{0,38}: ")  # `Ana: Where is it?`


@dataclass(slots=True)
class Echoes:
    """Tells them apart, of turns that come best first."""

    query: str
    _asked: str = field(init=False)
    _said: set[tuple[str, str]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self._asked = bare(self.query)

    def repeats(self, text: str, *, of: str = "") -> bool:
        """Whether the next one says the query itself, with a name before it or without, or what one before
        it said `of` the same person."""
        said = bare(text)
        if not said:
            return False
        is_echo = (of, said) in self._said or self.is_query(text)
        self._said.add((of, said))
        return is_echo

    def is_query(self, text: str) -> bool:
        """Whether the text says the query itself, with a name before it or without."""
        return self._asked in (bare(text), bare(_SPEAKER.sub("", text, count=1)))


def bare(text: str) -> str:
    """The text without differences of case and spacing, and without punctuation at its ends."""
    folded = " ".join(text.casefold().split())
    first, last = 0, len(folded)
    while first < last and _is_mark(folded[first]):
        first += 1
    while last > first and _is_mark(folded[last - 1]):
        last -= 1
    return folded[first:last]


def penalty(best_echo: float, worst_other: float | None) -> float:
    """What is added to the score of each echo, so that the best of them lies behind all others."""
    above = 0.0 if worst_other is None else max(0.0, best_echo - worst_other)
    return -(above + BEHIND)


def _is_mark(character: str) -> bool:
    return character == " " or unicodedata.category(character).startswith("P")
