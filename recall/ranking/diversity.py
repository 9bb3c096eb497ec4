"""Maximal marginal relevance (Carbonell and Goldstein, 1998): of much that says the same, one first. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Vector = NDArray[np.float32]
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Pick:
    """A chosen candidate, by its place among all: its relevance, from 0 to 1 within the query, and how like
    it is to the likest that was chosen before it, from 0 to 1."""

    place: int
    relevance: float
    likeness: float


def diversify(scores: Sequence[float], likeness: Floats, *, wanted: int, share: float) -> list[Pick]:
    """The `wanted` candidates, all if there are fewer, chosen one after the other by
    `share · relevance - (1 - share) · likeness to what was chosen`. Of equals the first comes first.
    `likeness` is (candidates, candidates)."""
    relevance = _normalised(np.array(scores, dtype=np.float64))
    nearest = np.zeros(len(relevance))
    is_left = np.ones(len(relevance), dtype=np.bool_)
    picked: list[Pick] = []
    for _ in range(min(wanted, len(relevance))):
        value = np.where(is_left, share * relevance - (1 - share) * nearest, -np.inf)
        place = int(value.argmax())
        picked.append(Pick(place, float(relevance[place]), float(nearest[place])))
        is_left[place] = False
        nearest = np.maximum(nearest, likeness[place])
    return picked


def likeness_of(vectors: Sequence[Vector | None], texts: Sequence[str]) -> Floats:
    """How like the candidates are to each other, (candidates, candidates), from 0 to 1: the cosine of their
    vectors; where one of the two has none, the share of words that both hold."""
    present = {place: vector for place, vector in enumerate(vectors) if vector is not None}
    known = list(present)
    like = np.zeros((len(vectors), len(vectors)))
    if known:
        matrix = np.stack(list(present.values())).astype(np.float64)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True).clip(min=1e-12)
        like[np.ix_(known, known)] = (matrix @ matrix.T).clip(0.0, 1.0)
    words = [frozenset(WORD.findall(text.casefold())) for text in texts]
    for place in sorted(set(range(len(vectors))) - set(known)):
        shares = [_shared(words[place], other) for other in words]
        like[place, :] = like[:, place] = shares
    return like


def _normalised(scores: Floats) -> Floats:
    """From 0 for the worst to 1 for the best; 1 for all where they are equal."""
    if not len(scores):
        return scores
    low, span = scores.min(), np.ptp(scores)
    normalised: Floats = (scores - low) / span if span > 0 else np.ones_like(scores)
    return normalised


def _shared(some: frozenset[str], others: frozenset[str]) -> float:
    """Jaccard's index."""
    return len(some & others) / len(some | others) if some | others else 1.0
