"""The steps of an answer, with what they took. Pure."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from tenants.errors import Unavailable

StageStatus = Literal["ok", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Stage:
    """A step of a recall, with its duration in milliseconds."""

    name: str
    ms: float
    status: StageStatus = "ok"


@contextmanager
def timed(name: str, stages: list[Stage]) -> Iterator[None]:
    """Adds the block as a stage; as a failed one when something that it needs is away."""
    start = time.perf_counter()
    try:
        yield
    except Unavailable:
        stages.append(Stage(name, milliseconds(start), "failed"))
        raise
    stages.append(Stage(name, milliseconds(start)))


def milliseconds(start: float) -> float:
    """Since `time.perf_counter()` was `start`."""
    return round((time.perf_counter() - start) * 1000, 2)
