"""Which episodes hold the words of a query, ranked by BM25. In an open scope."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np

from episodic import word_queries
from episodic.lexemes import corpus_of, in_any, mark_of, term
from episodic.types import EpisodeFilter
from episodic.word_figures import Figures, read_figures
from lexical.bm25 import Statistics, scores
from lexical.matching import PROMISING, Wanted, counts_of, heaviest

MOST_CORPORA = 200  # users whose memories are searched by words at a time


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose episodes are searched: those that the filter admits. An `Index` of `lexical.matching`."""

    tenant_id: UUID
    where: EpisodeFilter
    corpora: tuple[str, ...]
    counted: dict[str, int] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, tenant_id: UUID, where: EpisodeFilter) -> "Subject | None":
        """None if there are too many users in it to look for the words of each."""
        if where.user_id:
            return cls(tenant_id, where, (corpus_of(where.user_id, ""),))
        found = word_queries.owners_in(tenant_id=tenant_id, agent_id=where.agent_id, limit=MOST_CORPORA + 1)
        if len(found) > MOST_CORPORA:
            return None
        return cls(tenant_id, where, tuple(dict.fromkeys(corpus_of(*one) for one in found)))

    @property
    def marks(self) -> list[str]:
        return list(dict.fromkeys(mark_of(self.tenant_id, one) for one in self.corpora))

    def terms(self, lexemes: Sequence[str]) -> list[str]:
        """Each lexeme as a `tsquery`."""
        return [in_any(term(lexeme, mark) for mark in self.marks) for lexeme in lexemes]

    def figures(self) -> Figures:
        """Its size, its speakers, its years."""
        return read_figures(tenant_id=self.tenant_id, where=self.where)

    def statistics(self, lexemes: Sequence[str]) -> Statistics:
        """In how many of its episodes each lexeme stands, counted once for a search."""
        figures = self.figures()
        missing = [one for one in lexemes if one not in self.counted]
        if missing and figures.documents:
            found = word_queries.count(terms=self.terms(missing), where=self.where)
            self.counted.update(zip(missing, found, strict=True))
        return Statistics(figures.documents, figures.mean_length, self.counted)

    def best(
        self, wanted: Wanted, lexemes: Sequence[str], figures: Statistics, limit: int
    ) -> dict[UUID, float]:
        """The best `limit` of what `wanted`, given the corpora's marks, finds; best first."""
        marks = self.marks
        if not marks:
            return {}
        chosen, weights = heaviest(lexemes, figures)
        found = word_queries.find(
            wanted=in_any(wanted(mark) for mark in marks),
            terms=self.terms(chosen),
            weights=weights.tolist(),
            mean_length=figures.mean_length,
            marks=len(marks),
            where=self.where,
            most=max(PROMISING, 4 * limit),
        )
        if not found:
            return {}
        values = scores(
            counts=counts_of([one.ranks[: len(chosen)] for one in found], len(marks)),
            lengths=np.array([one.length for one in found]),
            idf=weights,
            mean_length=figures.mean_length,
        )
        by_id = dict(zip((one.id for one in found), values.tolist(), strict=True))
        ranked = sorted(by_id, key=lambda one: (-by_id[one], one))
        return {one: by_id[one] for one in ranked[:limit]}
