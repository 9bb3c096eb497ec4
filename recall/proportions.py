"""Shares of verdicts with their intervals, where verdicts of one session are alike. Pure.

Such verdicts tell less than as many independent ones. The interval of a share is therefore Wilson's (1927)
with the effective number of verdicts (Korn and Graubard, 1998), that of a difference Newcombe's (1998, method
10).
"""

import math
from dataclasses import dataclass

Z = 1.959964  # of the normal distribution: 95 % lie within
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sample:
    """So many verdicts, how many are helpful, in how many sessions; and, over the sessions, the sums of the
    squares of both numbers and of their products."""

    verdicts: int = 0
    helpful: int = 0
    units: int = 0
    verdicts_squared: int = 0
    helpful_squared: int = 0
    both: int = 0


def rate(sample: Sample) -> float | None:
    """The share of helpful ones; None without verdicts."""
    return sample.helpful / sample.verdicts if sample.verdicts else None


def effective(sample: Sample) -> float:
    """As how many independent verdicts they count: between the number of verdicts, and what is left of them
    if those of a session are all the same, which is assumed where nothing tells otherwise."""
    n = sample.verdicts
    share = sample.helpful / n
    independent = share * (1 - share) / n
    most = sample.verdicts_squared / n
    if sample.units < 2 or not independent:
        return n / most
    squares = sample.helpful_squared - 2 * share * sample.both + share**2 * sample.verdicts_squared
    clustered = sample.units / (sample.units - 1) * squares / n**2
    return n / min(max(clustered / independent, 1.0), most)


def interval(sample: Sample) -> Interval | None:
    """The 95 % interval of the share of helpful ones; None without verdicts."""
    share = rate(sample)
    if share is None:
        return None
    n = effective(sample)
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))


def difference(first: Sample, second: Sample) -> tuple[float, Interval] | None:
    """By how much the second's share exceeds the first's, with the 95 % interval; None unless both have
    verdicts."""
    one, other = rate(first), rate(second)
    around_one, around_other = interval(first), interval(second)
    if one is None or other is None or around_one is None or around_other is None:
        return None
    found = other - one
    below = math.hypot(other - around_other[0], around_one[1] - one)
    above = math.hypot(around_other[1] - other, one - around_one[0])
    return found, (max(-1.0, found - below), min(1.0, found + above))
