"""How likeness, recency and exact names become one score. Pure."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

HOUR = 3_600
LONGEST = 2_000  # characters of a query whose words, names and times are looked for
SHORTEST_VALUE = 3  # characters of a slot's value: a shorter one stands in many texts by chance
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts for."""

    alpha: float  # likeness against recency, 0 to 1
    decay: float  # of recency, per hour
    entity_boost: float = 0.0

    def formula(self) -> str:
        """How a score comes about, with the names of the signals."""
        return f"score = {self.alpha:g} · cosine + {1 - self.alpha:g} · recency + entity"


def signals_of(
    *, cosine: float, happened_at: datetime, now: datetime, named: bool, weights: Weights
) -> dict[str, float]:
    """Cosine similarity; recency from 1, for what is new, to 0; what exact names add."""
    return {
        "cosine": cosine,
        "recency": recency(happened_at, now=now, decay=weights.decay),
        "entity": weights.entity_boost if named else 0.0,
    }


def recency(happened_at: datetime, *, now: datetime, decay: float) -> float:
    """1 for what is new or yet to come, fading exponentially with its age in hours."""
    return math.exp(-decay * max(0.0, (now - happened_at).total_seconds() / HOUR))


def score_of(signals: dict[str, float], weights: Weights) -> float:
    """`alpha · cosine + (1 - alpha) · recency`, and what exact names add."""
    fused = weights.alpha * signals["cosine"] + (1 - weights.alpha) * signals["recency"]
    return fused + signals["entity"]


def fold(text: str) -> str:
    """The text without differences of case and spacing."""
    return " ".join(text.casefold().split())


@dataclass(frozen=True)
class Searched:
    """A folded text in which names are looked for."""

    folded: str

    @classmethod
    def of(cls, text: str) -> "Searched":
        return cls(fold(text))

    @cached_property
    def words(self) -> str:
        return _apart(self.folded)


def stands_in(phrase: str, text: Searched) -> bool:
    """Whether the folded phrase stands in the text as whole words. Takes as long as to read both, whatever
    they repeat."""
    return bool(phrase) and phrase in text.folded and _apart(phrase) in text.words


def names_any(names: Iterable[str], text: Searched) -> bool:
    """Whether one of the names stands in the text."""
    return any(stands_in(fold(name), text) for name in names)


def values_in(values: Iterable[object], query: Searched) -> tuple[str, ...]:
    """The folded values of slots, or members of values that are lists, that stand in the query."""
    folded = dict.fromkeys(fold(text) for value in values for text in _texts(value))
    return tuple(one for one in folded if len(one) >= SHORTEST_VALUE and stands_in(one, query))


def _texts(value: object) -> list[str]:
    if isinstance(value, list):
        return [text for member in value for text in _texts(member)]
    if isinstance(value, str):
        return [value]
    return [str(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _apart(text: str) -> str:
    """With a mark before and after each word: where a part of it begins or ends with a word, so does it."""
    return _WORD.sub("\0\\g<0>\0", text)
