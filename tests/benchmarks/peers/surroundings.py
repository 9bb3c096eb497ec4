"""What the figures were taken on."""

import os
import platform
import tomllib
from pathlib import Path

from tests.processes import ROOT


def surroundings() -> dict[str, object]:
    """The machine, as far as it tells."""
    return {"processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()}


def load() -> float:
    """Processes that wanted a core during the last minute, on average."""
    return round(os.getloadavg()[0], 1)


def product_version() -> str:
    """Of this checkout."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return version


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
