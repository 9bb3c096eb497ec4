"""Likeness, and how lately a memory was used and written: as clients of Redis agent memory rank. Pure."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RecencyWeights:
    """What likeness and recency count for; of recency, what the last use and the writing count for, and in
    how many days each of these fades to half."""

    semantic: float = 0.8
    recency: float = 0.2
    freshness: float = 0.6
    novelty: float = 0.4
    half_life_last_access_days: float = 7.0
    half_life_created_days: float = 30.0

    def formula(self) -> str:
        """How a score comes about, with the names of the signals."""
        return f"score = {self.semantic:g} · cosine + {self.recency:g} · recency"


def recency_of(weights: RecencyWeights, *, unused_days: Floats, age_days: Floats) -> Floats:
    """From 0 to 1, of days since the last use and since the writing: (memories,) each. What lies in the
    future counts as of now."""
    freshness = _faded(unused_days, weights.half_life_last_access_days)
    novelty = _faded(age_days, weights.half_life_created_days)
    recency: Floats = (weights.freshness * freshness + weights.novelty * novelty).clip(0.0, 1.0)
    return recency


def score_of(weights: RecencyWeights, *, cosines: Floats, recency: Floats) -> Floats:
    """(memories,)"""
    score: Floats = weights.semantic * cosines + weights.recency * recency
    return score


def _faded(days: Floats, half_life: float) -> Floats:
    """1 at first, half after the half-life; with none, 0 from the first moment on."""
    past = days.clip(min=0.0)
    faded: Floats
    if half_life <= 0:
        faded = (past == 0).astype(np.float64)
    else:
        with np.errstate(over="ignore"):  # of a half-life of next to nothing
            faded = np.exp2(-past / half_life)
    return faded
