"""Two embedding models beside each other, on the queries that a tenant has saved."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median
from typing import Any
from uuid import UUID

from django.utils import timezone

from ledger.cases import SavedQuery, saved_queries
from memoryproject.evaluation.figures import Outcome, find_ranks, means
from memoryproject.evaluation.saved import own_profile
from recall.case_runs import whose
from recall.recall import recall
from recall.types import RecallQuery
from tenants.caller import Caller
from tenants.errors import DomainError
from tenants.generations import reading_by
from tenants.system import system_caller

FIRST = 10  # of each answer, which are compared
MEANING = "vector"  # the stage that only runs when the model has answered

Advance = Callable[[int], object]  # told how many more queries are done


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model brings for one query: ids of episodes, best first. `by_meaning` is False where the model
    was away and words alone brought it."""

    ids: tuple[str, ...]
    milliseconds: float
    by_meaning: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and what each model answers, in the order of the models."""

    query: SavedQuery
    answers: tuple[Answer, Answer]

    @property
    def overlap(self) -> float:
        """The share of the longer answer that stands in both, 1 where both are empty."""
        first, second = (set(one.ids) for one in self.answers)
        longer = max(len(first), len(second))
        return len(first & second) / longer if longer else 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """The queries that could be asked, and how many could not."""

    models: tuple[str, str]
    asked: tuple[Asked, ...]
    failed: int


def compare(
    *, tenant_id: UUID, models: tuple[str, str], now: datetime, advance: Advance = lambda count: None
) -> Comparison:
    """Asks each saved query by both models, as the server itself, which no access figures count."""
    caller, asked, failed = system_caller(tenant_id), list[Asked](), 0
    queries = saved_queries(tenant_id=tenant_id)
    for query in queries[:1]:  # what is loaded or cached first is nobody's latency
        _try_both(caller, query, models, now)
    for query in queries:
        answers = _try_both(caller, query, models, now)
        if answers is None:
            failed += 1
        else:
            asked.append(Asked(query, answers))
        advance(1)
    return Comparison(models, tuple(asked), failed)


def document(found: Comparison) -> dict[str, Any]:
    """The comparison as JSON: ids of queries and memories, never what they say."""
    labelled = [one for one in found.asked if one.query.relevant]
    return {
        "made_at": timezone.now().isoformat(),
        "queries": len(found.asked),
        "labelled": len(labelled),
        "failed": found.failed,
        f"overlap@{FIRST}": round(fmean(one.overlap for one in found.asked), 4) if found.asked else None,
        "models": {model: _figures(found.asked, labelled, at) for at, model in enumerate(found.models)},
        "asked": [
            {
                "id": str(one.query.id),
                "overlap": round(one.overlap, 4),
                "answers": {
                    model: list(answer.ids) for model, answer in zip(found.models, one.answers, strict=True)
                },
            }
            for one in found.asked
        ],
    }


def table(found: Comparison) -> str:
    """The figures of both as a Markdown table, and the queries that they answer most differently."""
    told = document(found)
    if not found.asked:
        return "There is no saved query that could be asked: docs/evaluation.md tells how to save some.\n"
    lines = [
        f"{told['queries']} saved queries, {told['labelled']} of them labelled; the first {FIRST} answers of "
        f"both models have {told[f'overlap@{FIRST}']:.0%} in common.",
        "",
        f"| model | recall@{FIRST} | MRR | p50 ms | by words alone |",
        "|---|---|---|---|---|",
    ]
    for model, figures in told["models"].items():
        shown = [_shown(figures[name]) for name in (f"recall@{FIRST}", "mrr")]
        lines.append(f"| {model} | {' | '.join(shown)} | {figures['p50_ms']:.1f} | {figures['by_words']} |")
    apart = sorted(found.asked, key=lambda one: one.overlap)[:5]
    lines += ["", "Least in common: " + ", ".join(f"{one.query.id} {one.overlap:.0%}" for one in apart)]
    if found.failed:
        lines.append(f"{found.failed} queries could not be asked.")
    return "\n".join(lines) + "\n"


def _try_both(
    caller: Caller, query: SavedQuery, models: tuple[str, str], now: datetime
) -> tuple[Answer, Answer] | None:
    """None when the query cannot be asked, with either."""
    try:
        return _answer(caller, query, models[0], now), _answer(caller, query, models[1], now)
    except DomainError:
        return None


def _answer(caller: Caller, query: SavedQuery, model: str, now: datetime) -> Answer:
    # By name, so that no trial of the tenant's ranks it.
    asked = RecallQuery(query.text, whose(query), FIRST, profile=own_profile(caller.tenant_id))
    with reading_by(model):
        began = time.perf_counter()
        found = recall(caller=caller, query=asked, now=now, counted=False)
        took = time.perf_counter() - began
    return Answer(
        ids=tuple(str(hit.episode.id) for hit in found.hits),
        milliseconds=took * 1000,
        by_meaning=any(one.name == MEANING and one.status == "ok" for one in found.stages),
    )


def _figures(asked: Sequence[Asked], labelled: Sequence[Asked], at: int) -> dict[str, Any]:
    outcomes = [Outcome("", None, find_ranks(one.query.relevant, one.answers[at].ids)) for one in labelled]
    figures = means(outcomes) if outcomes else {}
    return {
        f"recall@{FIRST}": figures.get(f"recall@{FIRST}"),
        "mrr": figures.get("mrr"),
        "p50_ms": round(median(one.answers[at].milliseconds for one in asked), 3) if asked else None,
        "by_words": sum(not one.answers[at].by_meaning for one in asked),
    }


def _shown(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"
