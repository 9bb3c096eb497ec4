"""Whether two remembered texts say the same in nearly the same words. Pure."""

from itertools import pairwise

from lexical.analysis import analyse

LOOKED_AT = 4_000  # characters of each text
SAME = 0.95  # share of words and neighbouring words in common from which two texts say the same
ARTICLES = frozenset({"a", "an", "the"})
NEGATIONS = frozenset(analyse("not no never nor without cannot")) | {"t"}  # the latter of "don't"


class Seen:
    """Texts, each of which can be asked whether an earlier one says the same."""

    def __init__(self) -> None:
        self._kept: list[tuple[frozenset[str], frozenset[str]]] = []

    def add(self, text: str) -> bool:
        """Whether the text says something that none before it says."""
        terms = _terms(text)
        decisive = frozenset(filter(_is_decisive, terms))
        for known, known_decisive in self._kept:
            if decisive == known_decisive and _alike(terms, known):
                return False
        self._kept.append((terms, decisive))
        return True


def _is_decisive(term: str) -> bool:
    """A number, or a word that turns a statement round: texts that differ in one do not say the same."""
    return term in NEGATIONS or (" " not in term and any(map(str.isdigit, term)))


def _terms(text: str) -> frozenset[str]:
    """Words and pairs of neighbours, so that the order counts: "Bob pays Ann" is not "Ann pays Bob"."""
    words = [word for word in analyse(text[:LOOKED_AT]) if word not in ARTICLES]
    return frozenset((*words, *map(" ".join, pairwise(words))))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shorter, longer = sorted((len(one), len(other)))
    if shorter < SAME * longer:
        return False
    common = len(one & other)
    return common >= SAME * (shorter + longer - common)
