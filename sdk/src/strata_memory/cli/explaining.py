"""What a score is made of, as far as the server tells it. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .texts import bar, clean, filled

CELLS = 10  # of the longest bar
CLOSE = 1e-3  # by which parts may miss the score and count as all of it, as a share
WEIGHTED = re.compile(r"(?:(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?) · )?([a-z_]+)")
# Of a weighted sum the answer tells what each part gave; these are other names of its signals.
SUMMED = {"cosine": "meaning", "bm25": "words"}
GIFTS = frozenset(("neighbour", "feedback"))  # told as what they gave
BESIDE = frozenset(("words_around", "answers", "meaning_around", "session_words", "session_meaning"))


@dataclass(frozen=True, slots=True)
class Part:
    """A signal, None where only its gift is told; what it gave to the score, None where that is not told."""

    name: str
    signal: float | None
    given: float | None


def parts_of(hit: dict[str, Any]) -> list[Part]:
    """What a result's score is made of, the greatest first; what is nothing and gave nothing is left out."""
    signals, given = hit["signals"], _given(hit)
    found = [
        Part(name, None if name in GIFTS and name in given else signals.get(name), given.get(name))
        for name in dict.fromkeys([*signals, *given])
    ]
    return sorted((one for one in found if one.signal or one.given), key=lambda one: -(one.given or 0))


def scales(hits: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The greatest part of a score by kind of memory, whose scores are its own."""
    found: dict[str, float] = {}
    for hit in hits:
        gifts = [abs(one.given) for one in parts_of(hit) if one.given is not None]
        found[hit["kind"]] = max(found.get(hit["kind"], 0.0), *gifts, 0.0)
    return found


def drawn(parts: Sequence[Part], scale: float) -> list[str]:
    """A line for each part: its signal, what it gave, and a bar of that, `░` where it took something off."""
    width = max((len(clean(one.name)) for one in parts), default=0)
    return [_line(one, width, scale) for one in parts]


def _line(one: Part, width: int, scale: float) -> str:
    signal = "" if one.signal is None else f"{one.signal:.2f}"
    given = "" if one.given is None else f"{one.given:+.2f}"
    shown = bar(one.given / scale, CELLS) if one.given and scale else ""
    return f"{filled(clean(one.name), width)}  {signal:>5}  {given:>6}  {shown}".rstrip()


def _given(hit: dict[str, Any]) -> dict[str, float]:
    """What each part gave; nothing unless that makes up the score."""
    told = hit.get("explain") or {}
    added = told.get("added") or {}
    found = (
        _of_sum(hit["signals"], added) if added else _of_formula(hit["signals"], told.get("formula") or "")
    )
    missed = abs(sum(found.values()) - hit["score"])
    return found if missed <= CLOSE * max(1.0, abs(hit["score"])) else {}


def _of_sum(signals: dict[str, float], added: dict[str, float]) -> dict[str, float]:
    found = {}
    for name, value in signals.items():
        found[name] = value if name in GIFTS else added.get(SUMMED.get(name, name), 0.0)
    rest = added.keys() - SUMMED.values() - signals.keys() - (BESIDE if "neighbour" in signals else set())
    return found | {name: added[name] for name in added if name in rest}


def _of_formula(signals: dict[str, float], formula: str) -> dict[str, float]:
    """By weights such as those of `score = 0.8 · cosine + 0.2 · recency`; 1 where none is told."""
    told = WEIGHTED.findall(formula.partition("=")[2])
    weights = {name: float(weight or 1) for weight, name in told}
    return {name: weights.get(name, 1.0) * value for name, value in signals.items()}
