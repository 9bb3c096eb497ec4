"""Figures of retrieval, and whether two rankings agree. Pure: no Django, no network."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

TOP_K = 10
TIE = 1e-5  # cosines closer than this are equal: the last bits of float32 depend on how texts are batched


@dataclass(frozen=True)
class Outcome:
    """What one question should have found and what it found. None in a ranking: not of this transcript."""

    evidence: tuple[str, ...]
    returned: tuple[str | None, ...]
    exact: tuple[str, ...] | None = None  # the top by exact cosine; None: not computed
    category: int | None = None


@dataclass(frozen=True)
class Figures:
    """Means over questions, each between 0 and 1."""

    questions: int
    recall: float  # share of the evidence among the first TOP_K
    hit: float  # share of questions with any evidence among the first TOP_K
    mrr: float  # 1 / rank of the first evidence
    exact_recall: float | None  # `recall` of the exact ranking


@dataclass(frozen=True)
class Comparison:
    """How recall stands to exact cosine. Numbers are positions of outcomes, from 0."""

    compared: int
    unequal: tuple[int, ...]  # another amount of evidence was found
    otherwise: tuple[int, ...]  # as much evidence, but another set of memories

    @property
    def equal(self) -> bool:
        """Whether every question found as much evidence as exact cosine does."""
        return not self.unequal


def found(evidence: Sequence[str], ranking: Sequence[str | None]) -> int:
    """How many of the evidence turns are among the first TOP_K."""
    return len(set(evidence) & set(ranking[:TOP_K]))


def evidence_recall(evidence: Sequence[str], ranking: Sequence[str | None]) -> float:
    """The share of the evidence among the first TOP_K; evidence must not be empty."""
    return found(evidence, ranking) / len(set(evidence))


def reciprocal_rank(evidence: Sequence[str], ranking: Sequence[str | None]) -> float:
    """1 / rank of the first evidence among the first TOP_K, 0 without any."""
    wanted = set(evidence)
    return next((1 / rank for rank, one in enumerate(ranking[:TOP_K], start=1) if one in wanted), 0.0)


def figures(outcomes: Sequence[Outcome]) -> Figures | None:
    """Means over the outcomes that have evidence; None when there are none."""
    scored = [outcome for outcome in outcomes if outcome.evidence]
    if not scored:
        return None
    exact = [evidence_recall(one.evidence, one.exact) for one in scored if one.exact is not None]
    return Figures(
        questions=len(scored),
        recall=_mean([evidence_recall(one.evidence, one.returned) for one in scored]),
        hit=_mean([float(found(one.evidence, one.returned) > 0) for one in scored]),
        mrr=_mean([reciprocal_rank(one.evidence, one.returned) for one in scored]),
        exact_recall=_mean(exact) if len(exact) == len(scored) else None,
    )


def figures_by_category(outcomes: Sequence[Outcome]) -> dict[int, Figures]:
    """The figures of each category that has scored questions, in order."""
    categories = sorted({one.category for one in outcomes if one.category is not None})
    by_category = {c: figures([one for one in outcomes if one.category == c]) for c in categories}
    return {category: one for category, one in by_category.items() if one is not None}


def compare(outcomes: Sequence[Outcome]) -> Comparison:
    """Hold each ranking against exact cosine, also those of questions without evidence.

    Equal means are not enough: a question that lost evidence could hide behind one that gained some.
    """
    both = [(at, one, one.exact) for at, one in enumerate(outcomes) if one.exact is not None]
    unequal = [
        at for at, one, exact in both if found(one.evidence, one.returned) != found(one.evidence, exact)
    ]
    other = [
        at for at, one, exact in both if set(one.returned[:TOP_K]) != set(exact) and at not in set(unequal)
    ]
    return Comparison(len(both), tuple(unequal), tuple(other))


def closest_top(scores: Sequence[float], preferred: Set[int]) -> list[int]:
    """Return the TOP_K positions with the highest scores, best first.

    What lies within TIE of the last score that gets in is interchangeable: of those, `preferred` positions
    are taken first, then earlier ones. So a ranking that is a correct top is matched exactly, whichever way
    it broke its ties, and one that left out a better item never is.
    """
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    if len(order) <= TOP_K:
        return order
    cut = scores[order[TOP_K - 1]]
    sure = [at for at in order if scores[at] > cut + TIE]
    tied = sorted(at for at in order if abs(scores[at] - cut) <= TIE)
    tied.sort(key=lambda at: at not in preferred)
    chosen = sure + tied[: TOP_K - len(sure)]
    return sorted(chosen, key=lambda at: -scores[at])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
