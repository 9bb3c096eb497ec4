"""Latencies as figures, summarised the way wrk does it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds and requests per second."""

    p50: float
    p95: float
    p99: float
    rate: float
    longest: float


def summarise(milliseconds: Sequence[float], *, seconds: float, clients: int) -> Figures:
    """The figures of calls that `clients` made one after the other for `seconds`.

    As wrk does, a stall counts as often as it would have been met: each latency above twice the usual
    interval is joined by those of the calls that it held up.
    """
    interval = seconds * 1000 / max(1.0, len(milliseconds) / clients)
    counted = np.asarray(list(milliseconds) + _held_up(milliseconds, interval))
    p50, p95, p99 = np.percentile(counted, [50, 95, 99])
    return Figures(p50, p95, p99, len(milliseconds) / seconds, max(milliseconds))


def best_of(runs: Sequence[Figures]) -> Figures:
    """The run that was disturbed least: on a shared machine noise only ever adds."""
    return min(runs, key=lambda run: run.p50)


def _held_up(milliseconds: Sequence[float], interval: float) -> list[float]:
    missed = []
    for latency in milliseconds:
        if latency >= 2 * interval:
            rest = latency - interval
            while rest > interval:
                missed.append(rest)
                rest -= interval
    return missed
