"""A tenant's saved queries, asked of its memories as they are. Nothing is left behind: recall notes no
access, and nothing is told to a session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.search import episodes_by_id
from ledger.cases import SavedQuery, saved_queries
from memoryproject.evaluation.errors import EvaluationError
from memoryproject.evaluation.evaluating import Progress
from memoryproject.evaluation.figures import DEPTH, Outcome, find_ranks
from memoryproject.evaluation.report import Assessed, assess
from memoryproject.evaluation.stage import AWAY, check_whole
from recall.case_runs import whose
from recall.recall import recall
from recall.types import Profile, RecallQuery
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.policy.reading import read_policy
from tenants.system import system_caller


@dataclass(frozen=True)
class SavedEvaluation:
    """What came out. Queries without labels are not asked; nor are those whose episodes hold no more, and
    `gone` of the others' labels are left out for that."""

    profiles: Mapping[str, Assessed]
    asked: int
    unlabelled: int
    outdated: int
    gone: int


def own_profile(tenant_id: UUID) -> Profile:
    """What the tenant's policy ranks by."""
    return read_policy(tenant_id=tenant_id).recall.profile


def evaluate_saved(
    *,
    tenant_id: UUID,
    profiles: Sequence[Profile],
    resamples: int,
    progress: Progress,
    now: datetime,
) -> SavedEvaluation:
    """The figures of each profile on the tenant's labelled queries. Raises EvaluationError when there are
    none to be asked, and when the embedding model is away."""
    queries = saved_queries(tenant_id=tenant_id)
    labelled = [one for one in queries if one.relevant]
    caller = system_caller(tenant_id)
    current = _current(caller, labelled, now)
    if not current:
        raise EvaluationError(
            f"None of the {len(queries)} saved queries has labels that hold, so there is nothing to measure."
        )
    vectors = try_embed([one.text for one in current], tenant_id=tenant_id, interactive=False)
    if vectors is None:
        raise EvaluationError(AWAY)
    assessed = {}
    for profile in dict.fromkeys(profiles):
        with progress(profile, len(current)) as bar:
            outcomes = []
            for query, vector in zip(current, vectors, strict=True):
                outcomes.append(_asked(caller, query, vector, profile, now))
                bar.update(1)
        assessed[profile] = assess(outcomes, resamples=resamples)
    return SavedEvaluation(
        profiles={name: one for name, one in assessed.items() if one},
        asked=len(current),
        unlabelled=len(queries) - len(labelled),
        outdated=len(labelled) - len(current),
        gone=_gone(labelled, current),
    )


def _current(caller: Caller, labelled: Sequence[SavedQuery], now: datetime) -> list[SavedQuery]:
    """The queries with those of their labels that recall can still find; without those that are left none."""
    ids = {UUID(name) for one in labelled for name in one.relevant}
    found = episodes_by_id(caller=caller, ids=list(ids))
    holding = {str(one.id) for one in found.values() if one.valid_to is None or one.valid_to > now}
    kept = [replace(one, relevant=tuple(filter(holding.__contains__, one.relevant))) for one in labelled]
    return [one for one in kept if one.relevant]


def _gone(labelled: Sequence[SavedQuery], current: Sequence[SavedQuery]) -> int:
    """Labels that are left out of queries that are still asked."""
    before = {one.id: len(one.relevant) for one in labelled}
    return sum(before[one.id] - len(one.relevant) for one in current)


def _asked(
    caller: Caller, query: SavedQuery, vector: NDArray[np.float32], profile: Profile, now: datetime
) -> Outcome:
    asked = RecallQuery(text=query.text, where=whose(query), top_k=DEPTH, profile=profile)
    found = recall(caller=caller, query=asked, embedding=lambda: vector, now=now, counted=False)
    check_whole(found.stages)
    ranking = [str(hit.episode.id) for hit in found.hits]
    group = f"user {query.user_id}" if query.user_id else f"agent {query.agent_id}"
    return Outcome(group, None, find_ranks(query.relevant, ranking))
