"""Weights from judged queries: multinomial logistic regression over each query's candidates. Pure.

The loss is ListNet's top-one (Cao et al. 2007): the softmax over a query's candidates should be shared
equally by the relevant ones. It is convex; Newton's method needs about seven steps. Signals are standardised
for the penalty alone, and the weights answered are those of the signals as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

L2 = 1e-2  # per squared weight of a standardised signal; from 1e-3 to 1e-1 little changes
STEPS = 30
ENOUGH = 1e-8  # gain of a step at which it ends


@dataclass(frozen=True, slots=True)
class Judged:
    """One query: `signals` (candidates, signals) and which candidates are `relevant` (candidates,)."""

    signals: Floats
    relevant: NDArray[np.bool_]


def fit_weights(judged: Sequence[Judged], *, l2: float = L2) -> Floats:
    """(signals,). Queries without a relevant candidate teach nothing. A signal that never varies weighs 0."""
    useful = [one for one in judged if one.relevant.any()]
    if not useful:
        raise ValueError("No query has a relevant candidate.")
    scale = np.concatenate([one.signals for one in useful]).std(axis=0)
    scale[scale < 1e-12] = np.inf
    scaled = [Judged(one.signals / scale, one.relevant) for one in useful]
    weights = np.zeros(len(scale))
    loss, gradient, curvature = _derive(scaled, weights, l2)
    for _ in range(STEPS):
        step, size = np.linalg.solve(curvature, gradient), 1.0
        while (found := _derive(scaled, weights - size * step, l2))[0] > loss and size > 1e-4:
            size /= 2
        gain = loss - found[0]
        if gain > 0:
            weights, (loss, gradient, curvature) = weights - size * step, found
        if gain < ENOUGH:
            break
    unscaled: Floats = weights / scale
    return unscaled


def _derive(judged: Sequence[Judged], weights: Floats, l2: float) -> tuple[float, Floats, Floats]:
    """Loss, gradient and curvature at `weights`."""
    size = len(weights)
    loss, gradient, curvature = 0.0, np.zeros(size), np.zeros((size, size))
    for one in judged:
        scores = one.signals @ weights
        scores -= scores.max()
        log_total = np.log(np.exp(scores).sum())
        shares = np.exp(scores - log_total)
        targets = one.relevant / one.relevant.sum()
        mean = shares @ one.signals
        loss += log_total - targets @ scores
        gradient += mean - targets @ one.signals
        curvature += (one.signals * shares[:, np.newaxis]).T @ one.signals - np.outer(mean, mean)
    number = len(judged)
    return (
        loss / number + l2 / 2 * float(weights @ weights),
        gradient / number + l2 * weights,
        curvature / number + l2 * np.eye(size),
    )
