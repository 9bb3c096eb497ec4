"""The overview's figures as charts."""

from collections import defaultdict
from dataclasses import dataclass

from console.charts import Chart, Series, lines, share, stacked
from recall.overview import Overview

KINDS = (
    Series("episode", "episodes", "of-episode"),
    Series("observation", "observations", "of-observation"),
    Series("entity", "slots", "of-entity"),
    Series("document", "documents", "of-document"),
)
TIMES = (Series("p50", "median", "of-good"), Series("p95", "95 % stay below", "of-warn"))
HELPFUL = (Series("rate", "helpful", "of-good"),)


def charts_of(overview: Overview) -> dict[str, Chart]:
    """By name: each has a place of that name on the page."""
    return {"memories": _memories(overview), "latency": _latency(overview), "helpful": _helpful(overview)}


def _memories(overview: Overview) -> Chart:
    points = [(f"{one.day:%-d %b}", dict(one.counts)) for one in overview.memories]
    return stacked("memories", "Memories written each day, by kind", points, KINDS, when="Day")


def _latency(overview: Overview) -> Chart:
    points = [(f"{one.hour:%-d %b %H:00}", {"p50": one.p50, "p95": one.p95}) for one in overview.recalls]
    label = "Time that recalls took each hour, in milliseconds"
    return lines("latency", label, points, TIMES, when="Hour (UTC)", axis=_clock)


def _clock(hour: str) -> str:
    return hour.rpartition(" ")[2]


def _helpful(overview: Overview) -> Chart:
    points = [
        (f"{one.day:%-d %b}", {"rate": one.helpful / one.count if one.count else None})
        for one in overview.verdicts
    ]
    label = "Share of verdicts each day that call a recalled memory helpful"
    return lines("helpful", label, points, HELPFUL, when="Day", top=1.0, shown=share)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """What one model was used for, in the month."""

    model: str
    purpose: str
    calls: int
    failures: int
    input_tokens: int
    output_tokens: int


def usage_of_month(overview: Overview) -> list[UsageRow]:
    """By model and purpose, the busiest first."""
    days = defaultdict(list)
    for one in overview.usage:
        days[one.model, one.purpose].append(one)
    rows = [
        UsageRow(
            *key,
            *(sum(getattr(day, name) for day in found) for name in ("calls", "failures")),
            *(sum(getattr(day, name) for day in found) for name in ("input_tokens", "output_tokens")),
        )
        for key, found in days.items()
    ]
    return sorted(rows, key=lambda row: -row.calls)


def most_writes(overview: Overview) -> int:
    """The longest of the bars of what was written, and what was not."""
    return max([overview.kept, *(one.count for one in overview.refused)])
