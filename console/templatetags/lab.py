"""How a score is drawn: by what its parts are more or less than those of the average candidate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from console.recall_lab.meanings import MEANINGS, Meaning
from ledger.models import EvaluationQuery
from recall.kinds import KINDS, Kind
from recall.lab import Part, Shown, Tried

register = template.Library()
LEAST_SHARE = 1e-6
LEAST_TOLD = 0.0005  # rounds to 0.001
LARGEST = 3  # parts that a sentence names for a memory, and as many against it
WEIGHTED = ("hybrid", "keyword")  # profiles whose scores are sums of fitted weights; those of others, shares
ABOVE_ALL = "topic_key"  # is no amount


@dataclass(frozen=True, slots=True)
class Scale:
    """What the bars of memories are drawn to: the longest to the right of the average candidate, to the left
    (not above 0), and the largest part of all."""

    most: float = 0.0
    least: float = 0.0
    largest: float = 0.0


@register.simple_tag
def scales(one: Tried, tried: Sequence[Tried]) -> dict[Kind, Scale]:
    """Of each kind, for each has scores of its own; the same for both settings where their scores compare."""
    alike = [other for other in tried if not _differ(one, other)]
    return {
        kind: _scale(
            hit
            for each in (tried if kind != "episode" else alike)
            for hit in each.results
            if hit.kind == kind and all(part.name != ABOVE_ALL for part in hit.parts)
        )
        for kind in KINDS
    }


@register.filter
def differ(tried: Sequence[Tried]) -> bool:
    """Whether scores of episodes by one setting cannot be compared with those by the other."""
    return any(_differ(tried[0], other) for other in tried)


@register.simple_tag
def stacked(hit: Shown, scale: Scale) -> SafeString:
    """What pushes a hit up to the right of the average candidate, what pulls it down to the left."""
    least = scale.least
    span = max(scale.most - least, LEAST_SHARE)
    zero = -least / span * 100
    label = ", ".join(f"{label_of(part.name)} {part.more:+.3f}" for part in hit.parts if tells(part))
    return format_html(
        '<svg class="stack" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="bar-track" width="100" height="8"/>{}{}'
        '<rect class="stack-zero" x="{}" width=".3" height="8"/></svg>',
        f"{hit.more:+.3f} against the average: {label}",
        _side([part for part in hit.parts if tells(part) and part.more > 0], zero, span, 1),
        _side([part for part in hit.parts if tells(part) and part.more < 0], zero, span, -1),
        f"{zero:.3f}",
    )


@register.simple_tag
def part_bar(part: Part, largest: float) -> SafeString:
    """One part, from the middle to the side that it moves the memory to, as long as its share of the
    largest."""
    width = min(abs(part.more) / max(largest, LEAST_SHARE), 1) * 50
    return format_html(
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="bar-track" width="100" height="6"/>'
        '<rect class="signal{}" data-signal="{}" x="{}" width="{}" height="6"/>'
        '<rect class="stack-zero" x="49.85" width=".3" height="6"/></svg>',
        " against" if part.more < 0 else "",
        part.name,
        f"{50 - width if part.more < 0 else 50:.3f}",
        f"{width:.3f}",
    )


@register.filter
def because(hit: Shown) -> str:
    """`+1.840 against the average of 83 candidates: Same words +1.200, New +0.940; against it …`, with the
    largest of each side."""
    if any(part.name == ABOVE_ALL for part in hit.parts):
        return "Its topic key holds the query: that puts it before all others."
    if hit.candidates < 2:
        return "It is the only candidate of its kind: there is nothing to compare it with."
    parts = [part for part in hit.parts if tells(part)]
    up, down = (
        ", ".join(f"{label_of(part.name)} {signed(part.more)}" for part in some[:LARGEST])
        for some in ([one for one in parts if one.more > 0], [one for one in parts if one.more < 0])
    )
    if not parts:
        return f"It is like the average of {hit.candidates} candidates in everything."
    sides = f"{up}{'; against it ' if up and down else ''}{down}"
    return f"{signed(hit.more)} against the average of {hit.candidates} candidates: {sides}."


@register.filter
def tells(part: Part) -> bool:
    """Whether it sets the memory apart by as much as is shown."""
    return abs(part.more) >= LEAST_TOLD


@register.filter
def label_of(name: str) -> str:
    """`Same words`"""
    return MEANINGS[name].label if name in MEANINGS else name


@register.simple_tag
def meanings() -> dict[str, Meaning]:
    """Of all signals."""
    return MEANINGS


@register.filter
def signed(value: float) -> str:
    """`+0.412`, with a minus sign where it is one, and without a sign for nothing"""
    rounded = f"{value:+.3f}"
    return "0.000" if float(rounded) == 0 else rounded.replace("-", "\N{MINUS SIGN}")


@register.filter
def figure(value: float | None) -> str:
    """`0.412`"""
    return "" if value is None else f"{value:.3f}"


@register.filter
def percent(value: float) -> str:
    """`67 %`"""
    return f"{value:.0%}".replace("%", " %")


@register.filter
def when(text: str) -> datetime:
    """The moment that is kept as text."""
    return datetime.fromisoformat(text)


@register.filter
def places(found: Sequence[int | None]) -> str:
    """`1, 4, not found`"""
    return ", ".join("not found" if place is None else str(place) for place in found)


@register.filter
def expected(query: EvaluationQuery) -> list[tuple[UUID, int | None]]:
    """What a saved query should find, and where its last run found it."""
    return list(zip(query.relevant, (query.last_run or {}).get("places", ()), strict=False))


def _differ(one: Tried, other: Tried) -> bool:
    return (one.query.profile in WEIGHTED) != (other.query.profile in WEIGHTED)


def _scale(hits: Iterable[Shown]) -> Scale:
    found = list(hits)
    return Scale(
        max((one.risen for one in found), default=0.0),
        min((one.lowered for one in found), default=0.0),
        max((abs(part.more) for one in found for part in one.parts), default=0.0),
    )


def _side(parts: Iterable[Part], zero: float, span: float, direction: int) -> SafeString:
    at, rects = zero, []
    for part in parts:
        width = abs(part.more) / span * 100
        left = at if direction > 0 else at - width
        rects.append((" against" if direction < 0 else "", part.name, f"{left:.3f}", f"{width:.3f}"))
        at += direction * width
    return format_html_join(
        "", '<rect class="signal{}" data-signal="{}" x="{}" width="{}" height="8"/>', rects
    )
