"""Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). Pure.

The inverse document frequency is `ln(1 + (N - n + 0.5) / (n + 0.5))`, as Lucene's: never negative, so a word
that stands in most documents still counts a little. Statistics may be estimates that lag behind the store.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

K1 = 1.2  # how slowly further occurrences cease to add
B = 0.75  # how much length counts against a document: 0 not at all, 1 in full


@dataclass(frozen=True, slots=True)
class Statistics:
    """What one scope holds: how many documents, their mean number of lexemes, and how many of them hold each
    lexeme. A lexeme that is missing is held by none."""

    documents: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, lexemes: Sequence[str]) -> NDArray[np.float64]:
        """The weight of each lexeme: (lexemes,)."""
        return np.array(
            [idf(self.frequencies.get(lexeme, 0), self.documents) for lexeme in lexemes], dtype=np.float64
        )


def idf(frequency: int, documents: int) -> float:
    """The weight of a lexeme that `frequency` of `documents` hold; above 0. A frequency beyond the number of
    documents counts as all of them."""
    frequency = max(frequency, 0)
    absent = max(documents - frequency, 0)
    return math.log1p((absent + 0.5) / (frequency + 0.5))


def scores(
    *, counts: NDArray, lengths: NDArray, idf: NDArray[np.float64], mean_length: float
) -> NDArray[np.float64]:
    """The score of each candidate, 0 for one that holds no lexeme: (candidates,).

    `counts` (candidates, lexemes): how often each lexeme stands in each candidate; `lengths` (candidates,):
    its number of lexemes; `idf` (lexemes,). A `mean_length` that is not above 0 says nothing: every candidate
    then counts as one of mean length.
    """
    occurrences = counts.astype(np.float64)
    relative = lengths / mean_length if mean_length > 0 else np.ones(len(lengths))
    saturation = K1 * (1 - B + B * relative)
    parts = occurrences * (K1 + 1) / (occurrences + saturation[:, np.newaxis]) * idf
    # Not a matrix product: its last digits depend on where a row stands, and alike documents must tie.
    total: NDArray[np.float64] = parts.sum(axis=1)
    return total


def most(idf: float) -> float:
    """What a lexeme of this weight adds to a score at most, however often it occurs."""
    return idf * (K1 + 1)
