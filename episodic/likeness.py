"""The nearest in meaning of each of many vectors at once. In an open scope.

To look for each by itself reads the subject's vectors as often; here they are read once, in pieces, and all
are compared with all.
"""

from collections.abc import Iterator
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import vector_queries
from episodic.nearest import near_to
from episodic.types import EpisodeFilter
from episodic.vector_queries import Near, Vector

FEW = 8  # vectors for which a look for each costs as little
READ_FOR = 100  # vectors of a subject that are as soon read as searched once
PIECE = 2_000  # vectors that are in memory at a time

Floats = NDArray[np.float32]


def nearest_to_each(
    *, tenant_id: UUID, model: str, vectors: Vector, where: EpisodeFilter, limit: int
) -> list[dict[UUID, float]] | None:
    """The cosines of the `limit` nearest to each of `vectors`, shape (n, dimensions), by `model`, best first,
    as `nearest.nearest_ids` says of one. None: it is better to look for each by itself, since there are so
    many vectors or so few are asked about."""
    near = near_to(tenant_id=tenant_id, model=model, vector=vectors[0], where=where)
    if len(vectors) < FEW or near.size.vectors > READ_FOR * len(vectors):
        return None
    units = unit_rows(vectors)
    ids: list[UUID] = []
    cosines, places = np.empty((len(units), 0), np.float32), np.empty((len(units), 0), np.int64)
    for some, stored in _pieces(near):
        here = np.broadcast_to(np.arange(len(ids), len(ids) + len(some)), (len(units), len(some)))
        cosines = np.concatenate([cosines, units @ stored.T], axis=1)
        places = np.concatenate([places, here], axis=1)
        if cosines.shape[1] > limit:
            best = np.argpartition(-cosines, limit - 1, axis=1)[:, :limit]
            cosines = np.take_along_axis(cosines, best, axis=1)
            places = np.take_along_axis(places, best, axis=1)
        ids += some
    return [
        {ids[place]: -float(distance) for distance, place in sorted(zip(-row, at, strict=True))}
        for row, at in zip(cosines, places, strict=True)
    ]


def unit_rows(vectors: Floats) -> Floats:
    """Each row with the length 1; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)
    return units


def _pieces(near: Near) -> Iterator[tuple[list[UUID], Floats]]:
    after = UUID(int=0)
    while True:
        ids, vectors = vector_queries.read_vectors(near, after=after, limit=PIECE)
        if ids:
            yield ids, unit_rows(vectors)
            after = ids[-1]
        if len(ids) < PIECE:
            return
