"""Queries that say nothing by themselves, such as "continue": what they go on about is looked for instead.
Pure."""

import re
from collections.abc import Sequence

from working.types import Turn

TURNS = 2  # of the user, that stand in for what a query does not say
LONGEST = 500  # characters of each that are searched for
MOST_WORDS = 6
WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
# A query of nothing else is vague.
WORDS = """
again ah alright also and anything as before but carry come continue do else exactly fine further go
going good great hm hmm how it it's just keep last let's like lovely me mm mmh more next nice no nope not
now oh ok okay on one perfect please proceed really resume right same say so sure tell thank thanks that
that's the then there this too uh up very we well were what what's where why yeah yep yes you
"""
VAGUE = frozenset(WORDS.split())
APOSTROPHE = "\u2019"  # as keyboards of telephones write it


def is_vague(query: str) -> bool:
    """Whether the query has no word that could be looked for: "yes, go on", "and then?", "…"."""
    words = [word.replace(APOSTROPHE, "'") for word in WORD.findall(query.casefold())]
    return len(words) <= MOST_WORDS and VAGUE.issuperset(words)


def expand(query: str, turns: Sequence[Turn]) -> str:
    """What is searched for in the place of a vague query: the user's last turns that said something, and the
    query."""
    said = [turn.content for turn in turns if turn.role == "user" and isinstance(turn.content, str)]
    telling = [text[:LONGEST] for text in said if not is_vague(text)][-TURNS:]
    return "\n".join([*telling, query])
