"""Which documents hold words of a query: the best by BM25 without scoring each that holds one. Pure."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lexical.analysis import is_stop_word
from lexical.bm25 import Statistics, most, scores
from lexical.tsvector import term

Id = TypeVar("Id")
FoundId_co = TypeVar("FoundId_co", covariant=True)
Phrases = Sequence[tuple[str, ...]]
Wanted = Callable[[str], str]  # from the mark of a corpus to what is wanted there, as a `tsquery`

MOST_TERMS = 16  # that a search scores by: more say nothing more, and each costs time on every row
PROMISING = 200  # candidates that are scored exactly, at least
FEW = 300  # documents that words may stand in together and all be looked through
PAIRED = 6  # common words of which two bring a document; each more reads another large part of the index
TOO_MANY = 50_000  # … and beyond which a word does not bring candidates of its own
# What `ts_rank` answers, all weights being 1, for a lexeme that stands c times in a text: the sum of the
# inverse squares up to c, over this limit of it; what is missing to the limit is 1/(c + 1/2), nearly. To read
# c back from it takes PostgreSQL a tenth of the time that unnesting the vector takes.
INVERSE_SQUARES = 1.64493406685


class Match(Protocol[FoundId_co]):
    """A document that holds what was searched for."""

    @property
    def id(self) -> FoundId_co: ...

    @property
    def length(self) -> int:
        """Its number of lexemes."""

    @property
    def ranks(self) -> Sequence[float | None]:
        """`ts_rank` of each term."""


class Index(Protocol[Id]):
    """Where is searched."""

    def statistics(self, lexemes: Sequence[str]) -> Statistics:
        """The figures of all that is searched."""

    def best(
        self, wanted: Wanted, lexemes: Sequence[str], figures: Statistics, limit: int
    ) -> dict[Id, float]:
        """The scores of the best `limit` of what `wanted` finds, by these lexemes; best first."""


def match_all(index: Index[Id], phrases: Phrases, limit: int) -> dict[Id, float]:
    """The best that hold every phrase."""
    lexemes = list(dict.fromkeys(itertools.chain.from_iterable(phrases)))
    if not lexemes:
        return {}
    return index.best(partial(all_of, phrases), lexemes, index.statistics(lexemes), limit)


def match_any(
    index: Index[Id], lexemes: Sequence[str], limit: int, *, sure: int | None = None
) -> dict[Id, float]:
    """The best that hold at least one of the lexemes.

    A word that stands in very many documents brings only those that hold another such word as well, as long
    as these decide. The first `sure` of the answer, by default all, are those that looking through everything
    would find. In a long text that holds for the rarest of its common words, `PAIRED` of them.
    """
    if not lexemes:
        return {}
    figures = index.statistics(lexemes)
    rarest_first = _rarest_first(lexemes, figures)
    bringing = _bringing(rarest_first, figures, FEW)
    found = index.best(_wanted(rarest_first, len(bringing)), rarest_first, figures, limit)
    while (left := rarest_first[len(bringing) :]) and not _decided(found, left, figures, sure or limit):
        if figures.frequencies.get(left[0], 0) > TOO_MANY:
            break
        bringing = rarest_first[: len(bringing) + 1]
        found = index.best(_wanted(rarest_first, len(bringing)), rarest_first, figures, limit)
    return found


def telling(phrases: Phrases) -> list[str]:
    """The lexemes of a query, each once: without stop words, unless there are only such."""
    lexemes = list(dict.fromkeys(itertools.chain.from_iterable(phrases)))
    return [lexeme for lexeme in lexemes if not is_stop_word(lexeme)] or lexemes


def heaviest(lexemes: Sequence[str], figures: Statistics) -> tuple[list[str], NDArray[np.float64]]:
    """Those that documents are scored by, with their weights."""
    weights = figures.idf(lexemes)
    places = np.argsort(-weights, kind="stable")[:MOST_TERMS]
    return [lexemes[place] for place in places], weights[places]


def counts_of(ranks: Sequence[Sequence[float | None]], alternatives: int) -> NDArray:
    """How often each term stands in each document. `ts_rank` divides by the number of alternatives."""
    sums = np.array(ranks, dtype=np.float64) * alternatives
    counts: NDArray = np.rint(1 / (INVERSE_SQUARES * np.maximum(1 - sums, 1e-9)) - 0.5)
    return counts


def scores_of(
    found: Sequence[Match[Id]], weights: NDArray[np.float64], mean_length: float, alternatives: int
) -> dict[Id, float]:
    """BM25 of each, by as many of its terms as there are weights."""
    if not found:
        return {}
    values = scores(
        counts=counts_of([one.ranks[: len(weights)] for one in found], alternatives),
        lengths=np.array([one.length for one in found]),
        idf=weights,
        mean_length=mean_length,
    )
    return dict(zip((one.id for one in found), values.tolist(), strict=True))


def all_of(phrases: Phrases, mark: str) -> str:
    """The `tsquery` of texts in one corpus that hold every phrase."""
    return " & ".join("(" + " <-> ".join(term(lexeme, mark) for lexeme in phrase) + ")" for phrase in phrases)


def any_or_two(alone: Sequence[str], paired: Sequence[str], mark: str) -> str:
    """The `tsquery` of texts in one corpus that hold one lexeme of `alone`, or two of `paired`."""
    single = [term(lexeme, mark) for lexeme in alone]
    pairs = combinations([term(lexeme, mark) for lexeme in paired], 2)
    return " | ".join([*single, *(f"({first} & {second})" for first, second in pairs)])


def _wanted(rarest_first: list[str], alone: int) -> Wanted:
    paired = rarest_first[alone : alone + PAIRED]
    return partial(any_or_two, rarest_first[:alone], paired)


def _rarest_first(lexemes: Sequence[str], figures: Statistics) -> list[str]:
    """As many as are scored. Words that stand nowhere, as most of a long text's may, take nobody's place."""

    def rarity(lexeme: str) -> int:
        return figures.frequencies.get(lexeme, 0)

    known_first = sorted(lexemes, key=lambda lexeme: (not rarity(lexeme), rarity(lexeme)))
    return sorted(known_first[:MOST_TERMS], key=rarity)


def _bringing(rarest_first: list[str], figures: Statistics, enough: int) -> list[str]:
    """As many of the rarest as together stand in `enough` documents at most; at least one."""
    sums = itertools.accumulate(figures.frequencies.get(lexeme, 0) for lexeme in rarest_first)
    return rarest_first[: max(1, sum(total <= enough for total in sums))]


def _decided(found: dict[Id, float], left: list[str], figures: Statistics, limit: int) -> bool:
    """Whether no document that holds one word alone, and that of `left`, can be among the best `limit`."""
    if len(found) < limit:
        return False
    worst_of_best = sorted(found.values(), reverse=True)[limit - 1]
    return worst_of_best >= max(most(weight) for weight in figures.idf(left))
