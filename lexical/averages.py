"""What the candidates of a query have on average: whatever one of them has more or less of tells it apart.
Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Average:
    """Of how many candidates, and the mean value of each of their signals."""

    of: int
    values: Mapping[str, float]


def average_of(candidates: Collection[Mapping[str, float]]) -> Average | None:
    """A signal that one of them lacks is 0 there. None has none."""
    if not candidates:
        return None
    totals: dict[str, float] = {}
    for one in candidates:
        for name, value in one.items():
            totals[name] = totals.get(name, 0.0) + value
    return Average(len(candidates), {name: total / len(candidates) for name, total in totals.items()})
