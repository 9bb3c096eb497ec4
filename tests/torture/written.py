"""What the writers' process has done so far."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True, slots=True)
class Write:
    """`begun` is monotonic."""

    name: str
    begun: float
    seconds: float
    outcome: str


class Written:
    """Reads the file that `tests/torture/writers.py` adds to."""

    def __init__(self, process: subprocess.Popen, file: Path) -> None:
        self._process, self._file = process, file

    def all(self) -> list[Write]:
        if not self._file.exists():
            return []
        lines = self._file.read_text().splitlines(keepends=True)
        words = [line.split() for line in lines if line.endswith("\n")]
        return [Write(name, float(begun), float(seconds), outcome) for name, begun, seconds, outcome in words]

    def count(self) -> int:
        return len(self.acknowledged())

    def acknowledged(self) -> set[str]:
        return {write.name for write in self.all() if write.outcome == "ok"}

    def outcomes(self) -> set[str]:
        return {write.outcome for write in self.all()}

    def ended(self) -> bool:
        code = self._process.poll()
        assert code in {None, 0}, "the writers failed: see writers.log"
        return code == 0

    def milliseconds(self, begin: float, end: float) -> "np.ndarray":
        """How long the writes took that began in between."""
        return np.asarray([write.seconds * 1000 for write in self.all() if begin <= write.begun < end])
