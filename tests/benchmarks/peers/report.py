"""What was measured as an object, as Markdown and as a picture."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from memoryproject.evaluation.figures import DEPTH
from memoryproject.evaluation.plot import SHOWN, svg
from memoryproject.evaluation.report import assess
from memoryproject.evaluation.tables import CATEGORIES, aligned, overall, with_interval
from tests.benchmarks.peers.measure import Ranked, Round

RESAMPLES = 2_000
CROWD = "recall@10 in the crowd"  # the figure's name in the picture

Figures = Mapping[str, Any]


def figures(measured: Round) -> dict[str, Figures]:
    """By ranking: what `manage.py evaluate` tells, and times and rows."""
    return {
        name: {
            **(assess(ranked.outcomes, resamples=RESAMPLES) or {}),
            **_times(measured.adds.get(measured.owner[name], []), "add"),
            **_times(ranked.ms, "search"),
            **_rows(ranked),
        }
        for name, ranked in measured.ranked.items()
    }


def tables(document: Mapping[str, Any]) -> str:
    """The document as a person reads it."""
    whole, crowd, data = document["whole"], document["crowd"], document["data"]
    quality = {**whole, **document["unseen"]}
    parts = [
        f"### Found: {data['conversations']} conversations, {data['turns']} turns\n",
        "\n".join(overall(quality, of="system")) + "\n",
        "By category, recall@10 and MRR:\n",
        "\n".join(_by_category(quality)) + "\n",
        "### Speed: milliseconds at one client, with the embedding\n",
        "\n".join(_speed(whole)) + "\n",
        f"### {data['users']} users in one table, {data['crowd_turns']} turns\n",
        "\n".join(_crowd(crowd)) + "\n",
        "### Who\n",
        "\n".join(_who(document)) + "\n",
        f"Turns that the gate of Strata's default policy kept out: {sum(document['refused'].values())}.\n",
    ]
    return "\n".join(parts)


def picture(document: Mapping[str, Any]) -> str:
    """Bars of what was found, alone and in the crowd."""
    shown = {name: dict(one) for name, one in {**document["whole"], **document["unseen"]}.items()}
    for name, one in document["crowd"].items():
        shown[name][CROWD] = one["recall@10"]
        shown[name]["ci95"] = {**shown[name]["ci95"], CROWD: one["ci95"].get("recall@10")}
    headings = {**SHOWN, CROWD: f"recall@10, {document['data']['users']} users in one table"}
    return svg(shown, shown=headings, title="Strata beside others, with 95 % intervals")


def _by_category(quality: Mapping[str, Figures]) -> Iterator[str]:
    first: Figures = next(iter(quality.values()))["by_category"]
    yield from aligned(
        [
            ["system", *(f"{CATEGORIES.get(int(at), at)} ({first[at]['questions']})" for at in first)],
            *([name, *(_both(one["by_category"][at]) for at in first)] for name, one in quality.items()),
        ]
    )


def _both(one: Figures) -> str:
    return f"{one['recall@10']:.3f} / {one['mrr']:.3f}"


def _speed(whole: Mapping[str, Figures]) -> Iterator[str]:
    names = ("add p50", "add p95", "search p50", "search p95")
    rows = [
        [name, *(f"{one[f'{figure} ms']:.1f}" for figure in names), f"{one['answered']:.1f}"]
        for name, one in whole.items()
    ]
    yield from aligned([["system", *names, f"turns answered of {DEPTH}"], *rows])


def _crowd(crowd: Mapping[str, Figures]) -> Iterator[str]:
    head = ["system", "recall@10", "MRR", f"turns answered of {DEPTH}", "the fewest", "search p50"]
    rows = [
        [
            name,
            with_interval(one, "recall@10"),
            with_interval(one, "mrr"),
            f"{one['answered']:.1f}",
            f"{one['fewest']}",
            f"{one['search p50 ms']:.1f}",
        ]
        for name, one in crowd.items()
    ]
    yield from aligned([head, *rows])


def _who(document: Mapping[str, Any]) -> Iterator[str]:
    rows = [[name, one["version"], one["setup"]] for name, one in document["contenders"].items()]
    missing = [[name, "", f"left out: {why}"] for name, why in document["missing"].items()]
    for row in [["system", "version", "as it was asked"], ["---"] * 3, *rows, *missing]:
        yield f"| {' | '.join(row)} |"


def _times(ms: list[float], what: str) -> dict[str, float]:
    return {f"{what} p{at} ms": round(float(np.percentile(ms, at)), 2) for at in (50, 95)} if ms else {}


def _rows(ranked: Ranked) -> dict[str, float]:
    """Answered of `DEPTH` asked: on average, and the fewest; every user has as many."""
    return {
        "answered": round(float(np.mean(ranked.answered)), 2),
        "fewest": min(ranked.answered),
        "due": round(float(np.mean(ranked.due)), 2),
    }
