"""The guide's ranking: likeness, recency and exact names, as the policy weighs them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from episodic import search
from episodic.types import Candidate, EpisodeFilter, Wanted
from lexical.averages import average_of
from recall.fusion import (
    LONGEST,
    Searched,
    Weights,
    names_any,
    score_of,
    signals_of,
    stands_in,
    values_in,
)
from recall.stages import Stage, timed
from recall.types import Hit, RecallQuery
from tenants.caller import Caller
from tenants.errors import Overdue
from tenants.policy.document import Policy
from tenants.scope import scope

# So many of the nearest are ranked, at least, and of the newest: a new memory can win without being alike.
NEAREST, TIMES = 50, 4
NEWEST = 20


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a fused ranking is made with. `at` is the moment that ages are counted to."""

    caller: Caller
    where: EpisodeFilter
    text: Searched
    weights: Weights
    written_since: datetime | None
    at: datetime


def ranking_of(
    caller: Caller, query: RecallQuery, where: EpisodeFilter, policy: Policy, now: datetime
) -> Ranking:
    """With what the request says, else the policy. What held at a moment is as old as it was then."""
    at = where.as_of or now
    weights = Weights(
        alpha=policy.recall.alpha if query.alpha is None else query.alpha,
        decay=policy.recall.decay if query.decay is None else query.decay,
        entity_boost=policy.recall.entity_boost,
    )
    return Ranking(caller, where, Searched.of(query.text[:LONGEST]), weights, written_since(policy, at), at)


def written_since(policy: Policy, at: datetime) -> datetime | None:
    """When the oldest memory may have been written that is recalled; None: whenever."""
    days = policy.recall.session_recency_days
    try:
        return at - timedelta(days=days) if days else None
    except OverflowError:  # before the year 1, when nothing was written
        return None


def fused_hits(
    ranking: Ranking, vector: NDArray[np.float32], top_k: int, limit: int, stages: list[Stage]
) -> list[Hit]:
    """The `limit` best by all signals, of the nearest and the newest. Opens one scope for all its queries;
    if the slots do not come in time another one, and does without."""
    wanted = Wanted(max(NEAREST, TIMES * top_k, limit), max(NEWEST, top_k), ranking.written_since)
    try:
        with scope(ranking.caller.tenant_id):
            values = _values(ranking, stages)
            return _fused(ranking, vector, wanted, values, limit, stages)
    except Overdue:
        if stages[-1].name != "slots":
            raise
    with scope(ranking.caller.tenant_id):
        return _fused(ranking, vector, wanted, (), limit, stages)


def _values(ranking: Ranking, stages: list[Stage]) -> tuple[str, ...]:
    """What the user's slots hold of what stands in the query."""
    if not ranking.weights.entity_boost or not ranking.where.user_id:
        return ()
    with timed("slots", stages):
        held = search.slot_values(caller=ranking.caller, user_id=ranking.where.user_id)
        return values_in(held, ranking.text)


def _fused(
    ranking: Ranking,
    vector: NDArray[np.float32],
    wanted: Wanted,
    values: Sequence[str],
    limit: int,
    stages: list[Stage],
) -> list[Hit]:
    """In the open scope."""
    with timed("vector", stages):
        found = search.candidates(
            caller=ranking.caller, vector=vector, where=ranking.where, wanted=wanted, with_texts=bool(values)
        )
    with timed("fusion", stages):
        return _best(ranking, found, values, limit)


def _best(ranking: Ranking, found: Sequence[Candidate], values: Sequence[str], limit: int) -> list[Hit]:
    scored = []
    for one in found:
        signals = signals_of(
            cosine=one.cosine,
            happened_at=one.happened_at,
            now=ranking.at,
            named=bool(ranking.weights.entity_boost) and _is_named(one, ranking.text, values),
            weights=ranking.weights,
        )
        scored.append((score_of(signals, ranking.weights), signals, one))
    average = average_of([signals for _score, signals, _one in scored])
    scored.sort(key=lambda each: -each[0])  # stable: of equal scores the nearer comes first
    del scored[limit:]
    ids = [one.episode_id for _score, _signals, one in scored]
    episodes = search.episodes_by_id(caller=ranking.caller, ids=ids)
    return [
        Hit(
            episodes[one.episode_id],
            score,
            signals,
            "newest" if one.is_new else "vector",
            average=average,
        )
        for score, signals, one in scored
        if one.episode_id in episodes  # one that was deleted since is left out
    ]


def _is_named(one: Candidate, query: Searched, values: Sequence[str]) -> bool:
    """Whether the query names something that the episode is about, or a slot's value that it tells too."""
    if names_any(one.names, query):
        return True
    text = Searched.of(one.text)
    return any(stands_in(value, text) for value in values)
