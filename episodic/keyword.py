"""Which episodes hold the words of a query, ranked by BM25. In an open scope."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from episodic import word_queries
from episodic.lexemes import corpus_of, in_any, mark_of, term
from episodic.record_tests import users_named
from episodic.types import EpisodeFilter
from episodic.word_figures import Figures, read_figures
from episodic.word_queries import Found
from lexical.bm25 import Statistics
from lexical.matching import PROMISING, Wanted, heaviest, scores_of

MOST_CORPORA = 200  # users whose memories are searched by words at a time
TESTED = 5  # times as many are looked up by words, where a filter has tests that the index does not know


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose episodes are searched: those that the filter admits. An `Index` of `lexical.matching`."""

    tenant_id: UUID
    where: EpisodeFilter
    corpora: tuple[str, ...]
    _read: list[Figures] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, tenant_id: UUID, where: EpisodeFilter) -> "Subject | None":
        """None if there are too many users in it to look for the words of each."""
        where = where.narrowed()
        if where.user_id is not None:
            return cls(tenant_id, where, (corpus_of(where.user_id, where.agent_id or ""),))
        named = users_named(where.tests) or ()
        if named and all(named) and len(named) <= MOST_CORPORA:
            return cls(tenant_id, where, tuple(dict.fromkeys(corpus_of(one, "") for one in named)))
        found = word_queries.owners_in(tenant_id=tenant_id, agent_id=where.agent_id, limit=MOST_CORPORA + 1)
        if len(found) > MOST_CORPORA:
            among = word_queries.owners_among(tenant_id=tenant_id, where=where, limit=MOST_CORPORA + 1)
            if among is None or len(among) > MOST_CORPORA:
                return None
            found = among
        return cls(tenant_id, where, tuple(dict.fromkeys(corpus_of(*one) for one in found)))

    @property
    def marks(self) -> list[str]:
        return list(dict.fromkeys(mark_of(self.tenant_id, one) for one in self.corpora))

    def terms(self, lexemes: Sequence[str]) -> list[str]:
        """Each lexeme as a `tsquery`."""
        return [in_any(term(lexeme, mark) for mark in self.marks) for lexeme in lexemes]

    def figures(self) -> Figures:
        """Its size, its speakers, its years; the same throughout a search."""
        if not self._read:
            self._read.append(read_figures(tenant_id=self.tenant_id, where=self.where))
        return self._read[0]

    def statistics(self, lexemes: Sequence[str]) -> Statistics:
        """In how many of its episodes each lexeme stands, counted once for a search at most."""
        figures = self.figures()
        known = {one: n for one in lexemes if (n := figures.counted.get(one)) is not None}
        missing = [one for one in lexemes if one not in known]
        if missing and figures.documents:
            counts = word_queries.count(terms=self.terms(missing), where=self.where)
            found = dict(zip(missing, counts, strict=True))
            figures.count(found)
            known |= found
        return Statistics(figures.documents, figures.mean_length, known)

    def best(
        self, wanted: Wanted, lexemes: Sequence[str], figures: Statistics, limit: int
    ) -> dict[UUID, float]:
        """The best `limit` of what `wanted`, given the corpora's marks, finds; best first."""
        marks = self.marks
        if not marks:
            return {}
        chosen, weights = heaviest(lexemes, figures)
        sought = _Sought(
            in_any(wanted(mark) for mark in marks),
            self.terms(chosen),
            weights.tolist(),
            figures.mean_length,
            len(marks),
        )
        is_tested = not all(map(self.where.implies, self.where.tests))
        found = self._tested(sought, limit) if is_tested else self._found(sought, _most(limit))
        by_id = scores_of(found, weights, figures.mean_length, len(marks))
        ranked = sorted(by_id, key=lambda one: (-by_id[one], one))
        return {one: by_id[one] for one in ranked[:limit]}

    def _found(self, sought: "_Sought", most: int) -> list[Found]:
        return word_queries.find(
            wanted=sought.wanted,
            terms=sought.terms,
            weights=sought.weights,
            mean_length=sought.mean_length,
            marks=sought.marks,
            where=self.where,
            most=most,
        )

    def _tested(self, sought: "_Sought", limit: int) -> list[Found]:
        """What meets the tests of more than are wanted; where these are too few, of all that there is."""
        most = TESTED * _most(limit)
        found = self._found(sought, most)
        admitted = word_queries.admitted(
            tenant_id=self.tenant_id, ids=[one.id for one in found], where=self.where
        )
        if len(admitted) >= limit or len(found) < most:
            return [one for one in found if one.id in admitted]
        return word_queries.find_among(
            tenant_id=self.tenant_id, wanted=sought.wanted, terms=sought.terms, where=self.where
        )


@dataclass(frozen=True, slots=True)
class _Sought:
    """What is asked of the index, with what its answers are weighed by."""

    wanted: str
    terms: list[str]
    weights: list[float]
    mean_length: float
    marks: int


def _most(limit: int) -> int:
    return max(PROMISING, 4 * limit)
