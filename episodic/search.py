"""Semantic search over episodes."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import querysets, word_queries
from episodic.episodes import confine
from episodic.models import Episode
from episodic.types import Candidate, EpisodeFilter, Neighbour, Wanted
from episodic.word_queries import Trait
from providers.embeddings import get_embedder
from tenants.caller import Caller
from tenants.embedding import embed_query
from tenants.scope import scope

__all__ = [
    "candidate_ids",
    "candidates",
    "confine",
    "embed_query",
    "episodes_by_id",
    "nearest_episodes",
    "slot_values",
    "traits_around",
]


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


def candidates(
    *,
    caller: Caller,
    vector: NDArray[np.float32],
    where: EpisodeFilter,
    wanted: Wanted,
    with_texts: bool = False,
) -> list[Candidate]:
    """What a ranking chooses from: the nearest to `vector` of all that `where` admits, best first, then those
    of the newest that are not among them."""
    with scope(caller.tenant_id):
        return querysets.candidates(
            tenant_id=caller.tenant_id,
            model=get_embedder().model,
            query=vector,
            where=confine(caller, where),
            wanted=wanted,
            with_texts=with_texts,
        )


def candidate_ids(
    *, caller: Caller, vector: NDArray[np.float32], where: EpisodeFilter, wanted: Wanted
) -> list[UUID]:
    """The ids of what `candidates` answers."""
    with scope(caller.tenant_id):
        found = querysets.candidate_ids(
            tenant_id=caller.tenant_id,
            model=get_embedder().model,
            query=vector,
            where=confine(caller, where),
            wanted=wanted,
        )
    return list(found)


def traits_around(
    *,
    caller: Caller,
    ids: Sequence[UUID],
    terms: Sequence[str],
    vector: NDArray[np.float32] | None,
    reach: int,
) -> list[Trait]:
    """What is looked at in the episodes and in the turns around them; see `word_queries.around`."""
    with scope(caller.tenant_id):
        return word_queries.around(
            tenant_id=caller.tenant_id,
            ids=ids,
            terms=terms,
            query=vector,
            model=get_embedder().model,
            reach=reach,
        )


def episodes_by_id(*, caller: Caller, ids: Sequence[UUID]) -> dict[UUID, Episode]:
    """Those of the episodes, chosen from candidates, that are still there."""
    with scope(caller.tenant_id):
        return querysets.by_id(tenant_id=caller.tenant_id, ids=list(ids))


def slot_values(*, caller: Caller, user_id: str, limit: int = 200) -> list[Any]:
    """What the user's slots hold now."""
    with scope(caller.tenant_id):
        return querysets.slot_values(
            tenant_id=caller.tenant_id, user_id=caller.confine_user(user_id), limit=limit
        )
