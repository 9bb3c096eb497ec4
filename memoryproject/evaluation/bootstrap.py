"""How far figures may be trusted: the cluster bootstrap. Pure.

Questions about one conversation are alike, so whole conversations are drawn, with replacement, and not
questions; drawing questions would make the intervals too narrow (Cameron, Gelbach and Miller, 2008).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SEED = 1
EDGES = (2.5, 97.5)  # percentiles


def intervals(
    clusters: Sequence[NDArray[np.float64]], *, resamples: int, seed: int = SEED
) -> NDArray[np.float64] | None:
    """The 95 % intervals of the means over all rows, shape (2, figures): lower edges, then upper ones.

    A cluster has shape (its questions, figures) and at least one row. None for fewer than two clusters: one
    tells nothing of how conversations differ. The same arguments give the same answer.
    """
    if len(clusters) < 2:
        return None
    sums = np.array([one.sum(axis=0) for one in clusters])
    sizes = np.array([len(one) for one in clusters])
    drawn = np.random.default_rng(seed).integers(len(clusters), size=(resamples, len(clusters)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1, keepdims=True)
    edges: NDArray[np.float64] = np.percentile(means, EDGES, axis=0)
    return edges
