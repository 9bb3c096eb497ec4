"""Whether one statement says all that another says. Pure; no model is asked.

It does when each sentence of the other is one of its own, or the beginning of one that goes on with something
more (`likes Italian food` / `likes Italian food, particularly pasta`). Case, articles and words that say
nothing of the matter do not count. What a sentence goes on with must not take back or narrow what it began
with: a negation, a condition, another time, a question. In doubt it does not: what is merged wrongly is lost
from recall, what stays is only said twice.
"""

import re
from collections.abc import Iterable

from episodic.contradiction import contradicts
from episodic.vocabulary import FILLERS, HEDGES, NEGATIONS, NUMBER_WORDS, PAST

LONGEST = 4_000  # characters; what is longer tells a story
SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
# A word with the signs in it (`10:30`, `o'clock`, `c++`, `a@b.org`), or a sign that begins something more.
TOKEN = re.compile(r"[\w€$£%@+#&]+(?:['./:@_+#-]+\w+)*[+#%]*|[,;:(\u2013\u2014-]|\?", re.UNICODE)
ARTICLES = frozenset({"a", "an", "the"})
UNSAID = ARTICLES | FILLERS
# Signs and words after which a sentence only adds to what it has said.
ADDING = frozenset({",", ";", ":", "(", "-", "\u2013", "\u2014", "and", "because", "since", "especially",
                    "particularly", "including"})  # fmt: skip
_TAKING_BACK = (
    "no none nor neither nobody nothing nowhere without cannot can't don't doesn't didn't isn't aren't wasn't"
    " weren't won't wouldn't shouldn't couldn't haven't hasn't hadn't ain't longer used stopped quit except"
    " but only until till although though however instead rather sometimes rarely seldom hardly when while"
    " formerly previously once before after or else ?"
)
TAKING_BACK = HEDGES | PAST | NEGATIONS | frozenset(_TAKING_BACK.split())


def says_all(fuller: str, other: str) -> bool:
    """Whether `fuller` says what `other` says, and perhaps more; then `other` can go."""
    if max(len(fuller), len(other)) > LONGEST or "?" in fuller + other:
        return False
    said = [_words(sentence) for sentence in _sentences(fuller)]
    wanted = [_words(sentence) for sentence in _sentences(other)]
    wanted = [words for words in wanted if words]
    if not wanted or not all(any(_begins(words, one) for words in said) for one in wanted):
        return False
    return not (contradicts(other, fuller) or contradicts(fuller, other))


def _begins(words: list[str], with_these: list[str]) -> bool:
    """Whether the sentence is that one, or that one and something that only adds to it."""
    rest = words[len(with_these) :]
    if words[: len(with_these)] != with_these:
        return False
    return not rest or (rest[0] in ADDING and TAKING_BACK.isdisjoint(rest))


def _sentences(text: str) -> Iterable[str]:
    return SENTENCES.split(text.replace("\u2019", "'").strip())


def _words(sentence: str) -> list[str]:
    """Without the signs at its end."""
    found = [match.group().lower() for match in TOKEN.finditer(sentence)]
    words = [NUMBER_WORDS.get(one, one) for one in found if one not in UNSAID]
    while words and not words[-1][0].isalnum() and words[-1] in ADDING:
        words.pop()
    return words
