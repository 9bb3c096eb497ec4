"""Vectors without a model: texts that share words or parts of words are near each other. Pure."""

import re
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

PIECE = re.compile(r"\w+|[^\w\s]")


def count_tokens(text: str) -> int:
    """Words and signs: the fake server's measure of a text."""
    return len(PIECE.findall(text))


def vector_of(text: str, dimensions: int) -> NDArray[np.float32]:
    """A unit vector, the same for a text whenever and wherever it is made."""
    vector = np.zeros(dimensions, np.float64)
    for word in PIECE.findall(text.casefold()):
        _add(vector, word, 1.0)
        marked = f"^{word}$"
        for start in range(len(marked) - 2):
            _add(vector, marked[start : start + 3], 0.5)
    length = float(np.linalg.norm(vector))
    if length == 0:
        vector[0] = length = 1.0
    return (vector / length).astype(np.float32)


def _add(vector: NDArray[np.float64], feature: str, weight: float) -> None:
    digest = int.from_bytes(blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "big")
    vector[digest % vector.size] += weight if digest >> 63 else -weight
