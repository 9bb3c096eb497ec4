"""The ranking by likeness and by how lately a memory was used and written."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import access, search
from episodic.access_queries import Used
from episodic.types import EpisodeFilter, Wanted
from lexical.averages import Average
from recall.fused import NEAREST, NEWEST, TIMES
from recall.ranking.recency import RecencyWeights, recency_of, score_of
from recall.stages import Stage, timed
from recall.types import Arm, Hit
from tenants.caller import Caller
from tenants.errors import Overdue
from tenants.scope import scope

DAY = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class Recency:
    """What a ranking by recency is made with. `at` is the moment that ages are counted to."""

    caller: Caller
    where: EpisodeFilter  # confined
    weights: RecencyWeights
    written_since: datetime | None
    at: datetime


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Ids and the arm that brought each; what is looked at in those that have a vector."""

    arms: dict[UUID, Arm]
    used: Sequence[Used]


def recency_hits(ranking: Recency, vector: NDArray[np.float32], limit: int, stages: list[Stage]) -> list[Hit]:
    """The `limit` best of the nearest, the newest and those that were recalled last: all of these are ranked,
    not only what is answered. Opens one scope for all its queries; if the accesses do not come in time
    another one, and ranks as if there had been none."""
    caller = ranking.caller
    wanted = Wanted(max(NEAREST, TIMES * limit), max(NEWEST, limit), ranking.written_since)
    try:
        with scope(caller.tenant_id):
            with timed("accesses", stages):
                last = access.last_accessed(caller=caller, where=ranking.where, limit=wanted.newest)
            return _ranked(ranking, vector, wanted, last, limit, stages)
    except Overdue:
        if stages[-1].name != "accesses":
            raise
    with scope(caller.tenant_id):
        return _ranked(ranking, vector, wanted, None, limit, stages)


def _ranked(
    ranking: Recency,
    vector: NDArray[np.float32],
    wanted: Wanted,
    used_last: Sequence[UUID] | None,
    limit: int,
    stages: list[Stage],
) -> list[Hit]:
    """In the open scope. `used_last`: what was recalled last; None: accesses are not asked for."""
    with timed("vector", stages):
        found = _candidates(ranking, vector, wanted, used_last)
    with timed("fusion", stages):
        return _best(ranking, found, limit)


def _candidates(
    ranking: Recency, vector: NDArray[np.float32], wanted: Wanted, used_last: Sequence[UUID] | None
) -> _Candidates:
    caller, where = ranking.caller, ranking.where
    arms: dict[UUID, Arm] = dict.fromkeys(used_last or (), "accessed")
    nearest = search.candidate_ids(caller=caller, vector=vector, where=where, wanted=wanted)
    arms |= dict.fromkeys(nearest, "vector")
    used = access.uses_of(caller=caller, ids=list(arms), vector=vector, with_accesses=used_last is not None)
    return _Candidates(arms, [one for one in used if _is_admitted(one, ranking)])


def _is_admitted(one: Used, ranking: Recency) -> bool:
    """Whether its times are those that are asked for."""
    where, oldest = ranking.where, ranking.written_since
    return (
        (where.since is None or one.happened_at >= where.since.timestamp())
        and (where.until is None or one.happened_at <= where.until.timestamp())
        and (oldest is None or one.created_at >= oldest.timestamp())
    )


def _best(ranking: Recency, found: _Candidates, limit: int) -> list[Hit]:
    cosines = np.array([one.cosine for one in found.used], dtype=np.float64)
    now = ranking.at.timestamp()
    recency = recency_of(
        ranking.weights,
        unused_days=(now - np.array([one.accessed_at for one in found.used], dtype=np.float64)) / DAY,
        age_days=(now - np.array([one.created_at for one in found.used], dtype=np.float64)) / DAY,
    )
    scores = score_of(ranking.weights, cosines=cosines, recency=recency)
    ids = [one.id for one in found.used]
    average = (
        Average(len(ids), {"cosine": float(cosines.mean()), "recency": float(recency.mean())})
        if ids
        else None
    )
    best = sorted(range(len(ids)), key=lambda row: (-scores[row], -cosines[row], ids[row]))[:limit]
    episodes = search.episodes_by_id(caller=ranking.caller, ids=[ids[row] for row in best])
    return [
        Hit(
            episodes[ids[row]],
            float(scores[row]),
            {"cosine": float(cosines[row]), "recency": float(recency[row])},
            found.arms[ids[row]],
            average=average,
        )
        for row in best
        if ids[row] in episodes  # one that was deleted since is left out
    ]
