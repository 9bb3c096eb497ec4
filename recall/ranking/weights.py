"""The score of a candidate: a weighted sum of its signals, and what each of them gave to it. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recall.ranking.signals import SIGNALS

Floats = NDArray[np.float64]
DEFAULT = Path(__file__).with_name("weights_v1.json")


@dataclass(frozen=True, slots=True)
class Weights:
    """One weight for each of `names`, which are `SIGNALS`. Where they were fitted is told in their file."""

    names: tuple[str, ...]
    values: Floats

    @classmethod
    def of(cls, weights: Mapping[str, float]) -> "Weights":
        """Raises ValueError for a signal that is unknown; a missing one weighs 0."""
        if unknown := weights.keys() - set(SIGNALS):
            raise ValueError(f"There are no signals named {', '.join(sorted(unknown))}.")
        return cls(SIGNALS, np.array([weights.get(name, 0.0) for name in SIGNALS], dtype=np.float64))

    @classmethod
    def read(cls, path: Path) -> "Weights":
        """Those that a file holds: fitted ones, and such as were set by hand."""
        held = json.loads(path.read_text())
        return cls.of(held["weights"] | held.get("set", {}))

    def changed(self, weights: Mapping[str, float]) -> "Weights":
        """With others for some signals."""
        return Weights.of(dict(zip(SIGNALS, self.values.tolist(), strict=True)) | dict(weights))

    def formula(self) -> str:
        """How a score comes about, with the names of the signals."""
        parts = (f"{value:g} · {name}" for name, value in zip(self.names, self.values.tolist(), strict=True))
        return f"score = {' + '.join(parts)} + echo"

    def score(self, signals: Floats) -> Floats:
        """(candidates,) from (candidates, signals)."""
        # Not a matrix product: its last digits depend on where a row stands, and alike candidates must tie.
        total: Floats = (signals * self.values).sum(axis=1)
        return total

    def explain(self, signals: Floats) -> dict[str, float]:
        """What each signal of one candidate, (signals,), added to its score; without those that added
        nothing."""
        added = (signals * self.values).tolist()
        return {name: value for name, value in zip(SIGNALS, added, strict=True) if value}


@cache
def default_weights() -> Weights:
    """Those that came with this version."""
    return Weights.read(DEFAULT)
