"""What rankings are worth, question by question and on average. Pure."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RECALL_AT = (1, 5, 10, 20)
HIT_AT = 10
DEPTH = 20  # a ranking's length: what stands further down counts as not found, also for the reciprocal rank
NAMES = (*(f"recall@{k}" for k in RECALL_AT), f"hit@{HIT_AT}", "mrr")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the evidence of one question was found. Questions without evidence have none."""

    conversation: str
    category: int | None
    ranks: tuple[int | None, ...]  # of each evidence turn, from 1; None: not among the first `DEPTH`


def find_ranks(evidence: Collection[str], ranking: Sequence[str | None]) -> tuple[int | None, ...]:
    """The rank of each evidence turn, which are all different, in `ranking`, best first."""
    at = {turn: rank for rank, turn in enumerate(ranking[:DEPTH], start=1)}
    return tuple(at.get(turn) for turn in evidence)


def scores(outcome: Outcome) -> tuple[float, ...]:
    """The question's figures in the order of `NAMES`, each from 0 to 1.

    recall@k: the share of the evidence among the first k; hit@k: whether any is; mrr: 1 / rank of the first.
    """
    found = [rank for rank in outcome.ranks if rank is not None]
    recalls = (sum(rank <= k for rank in found) / len(outcome.ranks) for k in RECALL_AT)
    hit = float(any(rank <= HIT_AT for rank in found))
    return (*recalls, hit, 1 / min(found) if found else 0.0)


def table_of(outcomes: Iterable[Outcome]) -> NDArray[np.float64]:
    """The figures of every question, shape (questions, len(NAMES))."""
    return np.array([scores(one) for one in outcomes], np.float64).reshape(-1, len(NAMES))


def means(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """The mean over questions of each figure; there must be some."""
    return dict(zip(NAMES, table_of(outcomes).mean(axis=0).tolist(), strict=True))
