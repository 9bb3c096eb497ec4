"""Semantic search over episodes."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import nearest, querysets, word_queries
from episodic.episodes import confine
from episodic.models import Episode
from episodic.types import Candidate, EpisodeFilter, Neighbour, Wanted
from episodic.word_queries import Trait
from tenants.caller import Caller
from tenants.embedding import embed_query, model_behind
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
    """The `limit` episodes nearest to `vector` of all that `where` admits, best first; fewer if it admits no
    more."""
    with scope(caller.tenant_id):
        cosines = nearest.nearest_ids(
            tenant_id=caller.tenant_id,
            model=model_behind(vector, tenant_id=caller.tenant_id),
            vector=vector,
            where=confine(caller, where),
            limit=limit,
        )
        found = querysets.by_id(tenant_id=caller.tenant_id, ids=list(cosines))
    # One that was deleted since is left out.
    return [Neighbour(found[one], cosine) for one, cosine in cosines.items() if one in found]


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
        cosines = _candidates(caller, vector, where, wanted)
        return querysets.traits(tenant_id=caller.tenant_id, cosines=cosines, with_texts=with_texts)


def candidate_ids(
    *, caller: Caller, vector: NDArray[np.float32], where: EpisodeFilter, wanted: Wanted
) -> list[UUID]:
    """The ids of what `candidates` answers."""
    with scope(caller.tenant_id):
        return list(_candidates(caller, vector, where, wanted))


def traits_around(
    *,
    caller: Caller,
    ids: Sequence[UUID],
    terms: Sequence[str],
    vector: NDArray[np.float32] | None,
    reach: int,
    where: EpisodeFilter,
) -> list[Trait]:
    """What is looked at in the episodes, chosen from candidates, and in the turns around them; see
    `word_queries.around`. Of the turns around only those of the filter's agent and project, and none for
    whoever is not shown conversations: what they lend to a score would tell of them."""
    where = confine(caller, where)
    readable = () if caller.may_read_conversations else where.memory_types
    with scope(caller.tenant_id):
        return word_queries.around(
            tenant_id=caller.tenant_id,
            ids=ids,
            terms=terms,
            query=vector,
            model=model_behind(vector, tenant_id=caller.tenant_id),
            reach=reach,
            beside=EpisodeFilter(agent_id=where.agent_id, project=where.project, memory_types=readable),
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


def _candidates(
    caller: Caller, vector: NDArray[np.float32], where: EpisodeFilter, wanted: Wanted
) -> dict[UUID, tuple[float, bool]]:
    return nearest.candidate_ids(
        tenant_id=caller.tenant_id,
        model=model_behind(vector, tenant_id=caller.tenant_id),
        vector=vector,
        where=confine(caller, where),
        wanted=wanted,
    )
