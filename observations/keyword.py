"""Keyword search: which observations hold the words, ranked by BM25. In an open scope."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from lexical.analysis import is_stop_word
from lexical.bm25 import Statistics, most, scores
from observations import querysets
from observations.lexemes import all_of, any_or_two, in_any, mark_of, term
from observations.statistics import read_statistics
from observations.types import ObservationFilter

Phrases = Sequence[tuple[str, ...]]
Scores = dict[int, float]
Wanted = Callable[[str], str]  # from the mark of a corpus to what is wanted there, as a `tsquery`

PROMISING = 200  # candidates that are scored exactly, at least
FEW = 300  # observations that words may stand in together and all be looked through
PAIRED = 6  # common words of which two bring an observation; each more reads another large part of the index
TOO_MANY = 50_000  # … and beyond which a word does not bring candidates of its own
CORPORA_AT_ONCE = 500
# What `ts_rank` answers, all weights being 1, for a lexeme that stands c times in a text: the sum of the
# inverse squares up to c, over this limit of it; what is missing to the limit is 1/(c + 1/2), nearly. To read
# c back from it takes PostgreSQL a tenth of the time that unnesting the vector takes.
INVERSE_SQUARES = 1.64493406685


@dataclass(frozen=True, slots=True)
class Corpora:
    """Where is searched: the corpora, and whose observations in them."""

    tenant_id: UUID
    names: tuple[str, ...]
    where: ObservationFilter

    @property
    def user_id(self) -> str:
        return self.where.user_id or ""

    def marks(self) -> list[str]:
        # Each once: `ts_rank` counts the same alternative once, too.
        return list(dict.fromkeys(mark_of(self.tenant_id, name) for name in self.names))

    def parts(self) -> list["Corpora"]:
        """The same in handy pieces: a query names each lexeme once for each corpus."""
        starts = range(0, max(len(self.names), 1), CORPORA_AT_ONCE)
        pieces = (self.names[start : start + CORPORA_AT_ONCE] for start in starts)
        return [Corpora(self.tenant_id, names, self.where) for names in pieces]


def match_all(corpora: Corpora, phrases: Phrases, limit: int) -> Scores:
    """The best that hold every phrase."""
    lexemes = list(dict.fromkeys(itertools.chain.from_iterable(phrases)))
    if not lexemes:
        return {}
    figures = _statistics(corpora, lexemes)
    return _best(corpora, lambda mark: all_of(phrases, mark), lexemes, figures, limit)


def match_any(corpora: Corpora, phrases: Phrases, limit: int, *, sure: int | None = None) -> Scores:
    """The best that hold at least one word that is not a stop word, or one at all if there are only such.

    A word that stands in very many observations brings only those that hold another such word as well, as
    long as these decide. The first `sure` of the answer, by default all, are those that looking through
    everything would find. In a long text that holds for the rarest of its common words, `PAIRED` of them.
    """
    lexemes = _telling(phrases)
    if not lexemes:
        return {}
    figures = _statistics(corpora, lexemes)
    rarest_first = _rarest_first(lexemes, figures)
    bringing = _bringing(rarest_first, figures, FEW)
    found = _best(corpora, _wanted(rarest_first, len(bringing)), rarest_first, figures, limit)
    while (left := rarest_first[len(bringing) :]) and not _decided(found, left, figures, sure or limit):
        if figures.frequencies.get(left[0], 0) > TOO_MANY:
            break
        bringing = rarest_first[: len(bringing) + 1]
        found = _best(corpora, _wanted(rarest_first, len(bringing)), rarest_first, figures, limit)
    return found


def _wanted(rarest_first: list[str], alone: int) -> Wanted:
    paired = rarest_first[alone : alone + PAIRED]
    return partial(any_or_two, rarest_first[:alone], paired)


def _telling(phrases: Phrases) -> list[str]:
    lexemes = list(dict.fromkeys(itertools.chain.from_iterable(phrases)))
    return [lexeme for lexeme in lexemes if not is_stop_word(lexeme)] or lexemes


def _rarest_first(lexemes: list[str], figures: Statistics) -> list[str]:
    """As many as are scored. Words that stand nowhere, as most of a long text's may, take nobody's place."""

    def rarity(lexeme: str) -> int:
        return figures.frequencies.get(lexeme, 0)

    known_first = sorted(lexemes, key=lambda lexeme: (not rarity(lexeme), rarity(lexeme)))
    return sorted(known_first[: querysets.MOST_TERMS], key=rarity)


def _bringing(rarest_first: list[str], figures: Statistics, enough: int) -> list[str]:
    """As many of the rarest as together stand in `enough` observations at most; at least one."""
    sums = itertools.accumulate(figures.frequencies.get(lexeme, 0) for lexeme in rarest_first)
    return rarest_first[: max(1, sum(total <= enough for total in sums))]


def _decided(found: Scores, left: list[str], figures: Statistics, limit: int) -> bool:
    """Whether no observation that holds one word alone, and that of `left`, can be among the best `limit`."""
    if len(found) < limit:
        return False
    worst_of_best = sorted(found.values(), reverse=True)[limit - 1]
    return worst_of_best >= max(most(weight) for weight in figures.idf(left))


def _statistics(corpora: Corpora, lexemes: list[str]) -> Statistics:
    """Of all pieces together."""
    parts = [
        read_statistics(tenant_id=part.tenant_id, corpora=part.names, user_id=part.user_id, lexemes=lexemes)
        for part in corpora.parts()
    ]
    if len(parts) == 1:
        return parts[0]
    documents = sum(part.documents for part in parts)
    total = sum(part.documents * part.mean_length for part in parts)
    frequencies = {one: sum(part.frequencies.get(one, 0) for part in parts) for one in lexemes}
    return Statistics(documents, total / max(documents, 1), frequencies)


def _best(corpora: Corpora, wanted: Wanted, lexemes: list[str], figures: Statistics, limit: int) -> Scores:
    """The best `limit` of what `wanted`, given the corpora's marks, finds; best first."""
    found: Scores = {}
    for part in corpora.parts():
        found |= _score(part, wanted, lexemes, figures, limit)
    ranked = sorted(found, key=lambda one: (-found[one], -one))
    return {one: found[one] for one in ranked[:limit]}


def _score(corpora: Corpora, wanted: Wanted, lexemes: list[str], figures: Statistics, limit: int) -> Scores:
    weights = figures.idf(lexemes)
    heaviest = np.argsort(-weights, kind="stable")[: querysets.MOST_TERMS]
    chosen, weights = [lexemes[place] for place in heaviest], weights[heaviest]
    marks = corpora.marks()
    found = querysets.find(
        wanted=in_any(wanted(mark) for mark in marks),
        terms=[in_any(term(lexeme, mark) for mark in marks) for lexeme in chosen],
        weights=weights.tolist(),
        mean_length=figures.mean_length,
        corpora=corpora.names,
        where=corpora.where,
        most=max(PROMISING, 4 * limit),
    )
    if not found:
        return {}
    values = scores(
        counts=_counts([one.ranks[: len(chosen)] for one in found], len(marks)),
        lengths=np.array([one.length for one in found]),
        idf=weights,
        mean_length=figures.mean_length,
    )
    return dict(zip((one.id for one in found), values.tolist(), strict=True))


def _counts(ranks: Sequence[Sequence[float | None]], alternatives: int) -> NDArray:
    """How often each term stands in each candidate. `ts_rank` divides by the number of alternatives."""
    sums = np.array(ranks, dtype=np.float64) * alternatives
    counts: NDArray = np.rint(1 / (INVERSE_SQUARES * np.maximum(1 - sums, 1e-9)) - 0.5)
    return counts
