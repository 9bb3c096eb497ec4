"""Running saved queries as regression tests: each passes when all that it should find is in the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic.types import EpisodeFilter
from ledger.cases import QueryFilter, SavedQuery, access_query, list_queries, note_runs
from ledger.models import EvaluationQuery
from recall.lab import settled
from recall.recall import recall
from recall.types import RecallQuery
from tenants.caller import Caller

MOST_AT_ONCE = 50  # queries that one call runs: each takes some 15 ms
LOOKED_AT = 50  # places among which an expected memory is looked for


@dataclass(frozen=True, slots=True)
class CaseRun:
    """How a query went: the places of what it should find, None for what is not among the first
    `LOOKED_AT`; `recall`: the share that the answer holds."""

    query: EvaluationQuery
    top_k: int
    places: tuple[int | None, ...]

    @property
    def recall(self) -> float:
        """recall@K"""
        return sum(place is not None and place <= self.top_k for place in self.places) / len(self.places)

    @property
    def has_passed(self) -> bool:
        """Whether the answer holds all of it."""
        return self.recall == 1


def run_queries(*, caller: Caller, now: datetime, query_id: UUID | None = None) -> list[CaseRun]:
    """Runs the newest labelled queries within the caller's reach, or the one named, by the setting that the
    policy has now, and keeps how they went. Not counted as access. Raises NotFound, and what `recall`
    raises."""
    if query_id is None:
        labelled = QueryFilter(labelled=True)
        queries: Sequence[EvaluationQuery] = list_queries(caller=caller, where=labelled, limit=MOST_AT_ONCE)
    else:
        queries = [one for one in [access_query(caller=caller, query_id=query_id)] if one.relevant]
    runs = [_run(caller, one, now) for one in queries]
    kept = note_runs(caller=caller, runs={one.query.id: _figures(one, now) for one in runs})
    return [one for one in runs if one.query.id in kept]


def whose(query: EvaluationQuery | SavedQuery) -> EpisodeFilter:
    """What a saved query is asked of: a user's memories, whatever the agent; without a user, the agent's."""
    return EpisodeFilter(user_id=query.user_id) if query.user_id else EpisodeFilter(agent_id=query.agent_id)


def _run(caller: Caller, query: EvaluationQuery, now: datetime) -> CaseRun:
    asked = settled(caller=caller, query=RecallQuery(query.text, whose(query)))
    top_k = asked.top_k or 1
    deep = RecallQuery(
        asked.text, asked.where, max(LOOKED_AT, top_k), asked.profile, asked.alpha, asked.decay
    )
    hits = recall(caller=caller, query=deep, now=now, counted=False).hits
    places = {hit.episode.id: place for place, hit in enumerate(hits, start=1)}
    return CaseRun(query, top_k, tuple(places.get(one) for one in query.relevant))


def _figures(run: CaseRun, now: datetime) -> dict[str, object]:
    """As they are kept beside the query."""
    return {
        "at": now.isoformat(),
        "top_k": run.top_k,
        "recall": run.recall,
        "passed": run.has_passed,
        "places": list(run.places),
    }
