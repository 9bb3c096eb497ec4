"""Semantic search over episodes."""

import numpy as np
from numpy.typing import NDArray

from episodic import querysets
from episodic.episodes import confine
from episodic.types import EpisodeFilter, Neighbour
from providers.embeddings import get_embedder
from tenants.caller import Caller
from tenants.embedding import embed_query
from tenants.scope import scope

__all__ = ["confine", "embed_query", "nearest_episodes"]


def nearest_episodes(
    *, caller: Caller, vector: NDArray[np.float32], where: EpisodeFilter, limit: int
) -> list[Neighbour]:
    """The `limit` episodes nearest to `vector`, compared with every one that `where` admits; best first."""
    with scope(caller.tenant_id):
        return querysets.nearest(
            tenant_id=caller.tenant_id,
            model=get_embedder().model,
            query=vector,
            where=confine(caller, where),
            limit=limit,
        )
