"""What a rule is: a clause's beginning, and what follows from it. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from recall.remember.candidates import Fact, How
from recall.remember.statements import Statement

Build = Callable[[re.Match[str], Statement], Iterator[Fact]]
MOST_CONFIDENT = 0.99
# What may stand before a verb and changes nothing; hedges lower the confidence elsewhere.
MUCH = (
    r"(?:(?:really|also|still|usually|normally|generally|much|always|currently|now|actually|personally|"
    r"absolutely|just|"
    r"recently|definitely|probably|mostly|strongly|typically|do|simply|honestly|truly|kinda|kind of|"
    r"sort of|already|"
    r"only|have|even|totally|especially|particularly) ){0,3}"
)
IM = rf"(?:i'm|i am|im) {MUCH}"


class Rule(NamedTuple):
    """Facts that `build` makes of a clause that begins with `pattern`."""

    pattern: re.Pattern[str]
    build: Build


def rules_of(*pairs: tuple[str, Build]) -> tuple[Rule, ...]:
    """The pairs of pattern and builder as rules; letters may be of either case."""
    return tuple(Rule(re.compile(f"(?i){pattern}"), build) for pattern, build in pairs)


def say(key: str, value: str, confidence: float, one: Statement, *, how: How = "set") -> Fact:
    """The fact, as confident as its statement is certain. A correction is meant to count."""
    sure = min(MOST_CONFIDENT, confidence + 0.04) if one.corrects else confidence
    return Fact(key, value, round(sure * one.certainty, 3), one.words, how, clause=one.text)
