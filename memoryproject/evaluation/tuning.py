"""Weights fitted on labelled questions, and what they are worth on conversations they never saw. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoryproject.evaluation.weights_file import weights_by_hand
from memoryproject.replay.transcripts import ADVERSARIAL
from recall.ranking.fitting import Judged, fit_weights
from recall.ranking.signals import SIGNALS
from recall.ranking.weights import Weights


@dataclass(frozen=True)
class Pool:
    """What recall chooses from for one question."""

    evidence: tuple[str, ...]
    category: int | None
    turns: tuple[str, ...]  # the candidates' turn ids
    signals: NDArray[np.float64]  # shape (candidates, len(SIGNALS))


def fit(pools: Iterable[Pool]) -> Weights:
    """The weights that put evidence on top, of the questions that can be answered; those that are set by hand
    as they are. Raises ValueError when none of the evidence is among the candidates."""
    by_hand = weights_by_hand()
    learnt = np.array([name not in by_hand for name in SIGNALS])
    judged = [
        Judged(one.signals * learnt, np.isin(one.turns, one.evidence))
        for one in pools
        if one.category != ADVERSARIAL
    ]
    return Weights(SIGNALS, fit_weights(judged)).changed(by_hand)


def rank(pool: Pool, weights: Weights) -> tuple[str, ...]:
    """The turn ids by their scores, best first."""
    order = np.argsort(-weights.score(pool.signals), kind="stable")
    return tuple(pool.turns[at] for at in order)


def leave_one_out(pools: Mapping[str, Sequence[Pool]]) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    """Each conversation with the rankings of its questions by weights fitted on all the others."""
    for name, mine in pools.items():
        others = [one for other, some in pools.items() if other != name for one in some]
        weights = fit(others)
        yield name, [rank(one, weights) for one in mine]
