"""Keyword search: which observations hold the words, ranked by BM25. In an open scope."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

from lexical.bm25 import Statistics
from lexical.matching import PROMISING, Phrases, Wanted, all_of, heaviest, match_all, scores_of, telling
from lexical.matching import match_any as match_any_of
from observations import querysets
from observations.lexemes import in_any, mark_of, term
from observations.statistics import read_statistics
from observations.types import ObservationFilter

__all__ = ["Corpora", "Phrases", "Scores", "match_all", "match_any"]
Scores = dict[int, float]
CORPORA_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Corpora:
    """Where is searched: the corpora, and whose observations in them. An `Index`."""

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

    def statistics(self, lexemes: Sequence[str]) -> Statistics:
        """Of all pieces together."""
        parts = [
            read_statistics(
                tenant_id=part.tenant_id, corpora=part.names, user_id=part.user_id, lexemes=lexemes
            )
            for part in self.parts()
        ]
        if len(parts) == 1:
            return parts[0]
        documents = sum(part.documents for part in parts)
        total = sum(part.documents * part.mean_length for part in parts)
        frequencies = {one: sum(part.frequencies.get(one, 0) for part in parts) for one in lexemes}
        return Statistics(documents, total / max(documents, 1), frequencies)

    def best(self, wanted: Wanted, lexemes: Sequence[str], figures: Statistics, limit: int) -> Scores:
        """The best `limit` of what `wanted`, given the corpora's marks, finds; best first."""
        found: Scores = {}
        for part in self.parts():
            found |= _score(part, wanted, lexemes, figures, limit)
        ranked = sorted(found, key=lambda one: (-found[one], -one))
        return {one: found[one] for one in ranked[:limit]}


def match_any(corpora: Corpora, phrases: Phrases, limit: int, *, sure: int | None = None) -> Scores:
    """The best that hold at least one word that is not a stop word, or one at all if there are only such; see
    `lexical.matching`."""
    return match_any_of(corpora, telling(phrases), limit, sure=sure)


def holding(corpora: Corpora, phrases: Phrases) -> Q:
    """The condition on observations that they hold every phrase, of any rank: what `match_all` finds without
    a limit. Where nothing is searched for, none does."""
    found = Q(id__in=())
    for part in corpora.parts():
        found |= querysets.holding(wanted=_held(part, phrases), corpora=part.names, where=part.where)
    return found if phrases and corpora.names else Q(id__in=())


def still_holding(corpora: Corpora, phrases: Phrases) -> Q:
    """The same, told by each row rather than by the index: quicker for a hundred of them."""
    found = Q(id__in=())
    for part in corpora.parts():
        found |= querysets.still_holding(tenant_id=part.tenant_id, wanted=_held(part, phrases))
    return found if phrases and corpora.names else Q(id__in=())


def _held(corpora: Corpora, phrases: Phrases) -> str:
    return in_any(all_of(phrases, mark) for mark in corpora.marks())


def _score(
    corpora: Corpora, wanted: Wanted, lexemes: Sequence[str], figures: Statistics, limit: int
) -> Scores:
    chosen, weights = heaviest(lexemes, figures)
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
    return scores_of(found, weights, figures.mean_length, len(marks))
