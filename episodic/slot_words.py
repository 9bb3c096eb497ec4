"""How much of a slot's key a query names. Pure."""

import re
from collections.abc import Iterable
from itertools import pairwise

from lexical.analysis import analyse, is_stop_word

LONGEST = 1_000  # characters of a query that are looked at
MOST_PARTS = 40
SHORTEST = 4  # letters of a stem from which its last one may be another in the word: `citi` of `city`
WORD = re.compile(r"[^\W_]+")


class Named:
    """A query, asked which keys it names. `parts` stand in every such key: at least one of them, with the
    key's `_` taken out or not."""

    def __init__(self, query: str) -> None:
        words = WORD.findall(query[:LONGEST].casefold())
        telling = [word for word in words if not all(map(is_stop_word, analyse(word)))]
        lexemes = analyse(" ".join(telling))
        self._lexemes = _telling(lexemes)
        # "time zone" names `timezone`, and "timezone" names `time_zone`.
        self._whole = frozenset([*telling, *map("".join, pairwise(words))])
        self.parts = tuple(dict.fromkeys(map(_part, [*telling, *lexemes])))[:MOST_PARTS]

    def share_of(self, key: str) -> float:
        """From 0, nothing, to 1: all words of the key, in whatever form."""
        if key.replace("_", "") in self._whole:
            return 1.0
        lexemes = _telling(analyse(key))
        return len(lexemes & self._lexemes) / len(lexemes) if lexemes else 0.0


def _telling(lexemes: Iterable[str]) -> frozenset[str]:
    return frozenset(one for one in lexemes if not is_stop_word(one))


def _part(word: str) -> str:
    """What stands in the word in each of its forms."""
    return word[:-1] if len(word) >= SHORTEST and word.isascii() else word
