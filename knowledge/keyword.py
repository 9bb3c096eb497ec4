"""Keyword search: which chunks hold the words, ranked by BM25. In an open scope."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from knowledge import querysets
from knowledge.querysets import Size
from knowledge.types import Reach
from lexical.analysis import is_stop_word
from lexical.bm25 import Statistics, most, scores
from lexical.tsvector import in_any, mark_of, term

MOST_TERMS = 16  # that a search scores by: more say nothing more, and each costs time on every row
FEW = 2_000  # chunks that the words which bring candidates stand in together
PROMISING = 200  # candidates that are scored exactly, at least


@dataclass(frozen=True, slots=True)
class Matched:
    """The chunks that hold words of a query, with their scores, best first. `most`: above every score; what a
    chunk would come close to that held all of the query's words over and over."""

    scores: Mapping[UUID, float] = field(default_factory=dict)
    most: float = 1.0


def mark(tenant_id: UUID) -> str:
    """What stands before each lexeme of a tenant's documents."""
    return mark_of(tenant_id, "documents")


def match_words(
    *,
    reach: Reach,
    size: Size,
    phrases: Sequence[tuple[str, ...]],
    documents: Sequence[UUID] | None,
    limit: int,
) -> Matched:
    """The best `limit` chunks that hold at least one of the rarest words which are no stop words, best first.
    `size` is that of what is seen.
    A word that stands in very many chunks only counts for those that hold a rarer one, if there is one."""
    lexemes = list(dict.fromkeys(itertools.chain.from_iterable(phrases)))
    lexemes = [lexeme for lexeme in lexemes if not is_stop_word(lexeme)] or lexemes
    if not lexemes:
        return Matched()
    figures = _statistics(reach, size, lexemes)
    chosen = sorted(figures.frequencies, key=lambda one: figures.frequencies[one])[:MOST_TERMS]
    if not chosen:
        return Matched()
    weights, first = figures.idf(chosen), mark(reach.tenant_id)
    found = querysets.find(
        reach=reach,
        wanted=in_any(term(lexeme, first) for lexeme in _bringing(chosen, figures)),
        terms=[term(lexeme, first) for lexeme in chosen],
        weights=weights.tolist(),
        mean_length=figures.mean_length,
        documents=documents,
        most=max(PROMISING, 4 * limit),
    )
    if not found:
        return Matched()
    values = scores(
        counts=np.array([one.counts for one in found]),
        lengths=np.array([one.length for one in found]),
        idf=weights,
        mean_length=figures.mean_length,
    )
    ranked = sorted(zip(values.tolist(), (one.id for one in found), strict=True), key=_best_first)
    return Matched({chunk_id: value for value, chunk_id in ranked[:limit]}, _most(lexemes, figures))


def _most(lexemes: Sequence[str], figures: Statistics) -> float:
    """Words that stand nowhere count like the rarest: what holds the others alone does not answer all of the
    query. Of a long one, the `MOST_TERMS` rarest."""
    weights = sorted(figures.idf(lexemes).tolist(), reverse=True)
    return sum(most(weight) for weight in weights[:MOST_TERMS])


def _best_first(item: tuple[float, UUID]) -> tuple[float, UUID]:
    return -item[0], item[1]


def _statistics(reach: Reach, size: Size, lexemes: Sequence[str]) -> Statistics:
    """Of what is seen. Words that stand nowhere are left out."""
    first = mark(reach.tenant_id)
    counts = querysets.count(reach=reach, terms=[term(lexeme, first) for lexeme in lexemes])
    known = {lexeme: n for lexeme, n in zip(lexemes, counts, strict=True) if n}
    return Statistics(size.chunks, size.lexemes / max(size.chunks, 1), known)


def _bringing(rarest_first: Sequence[str], figures: Statistics) -> Sequence[str]:
    """As many of the rarest as together stand in `FEW` chunks at most; at least one."""
    sums = itertools.accumulate(figures.frequencies[lexeme] for lexeme in rarest_first)
    return rarest_first[: max(1, sum(total <= FEW for total in sums))]
