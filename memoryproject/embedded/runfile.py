"""The small JSON files in MEMORY_HOME, readable by their owner alone and never half written."""

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

Values = dict[str, str | int]


def write(path: Path, values: Mapping[str, str | int]) -> None:
    """Replace `path` as a whole, mode 0600; after a crash it holds the old values or the new ones."""
    fd, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # made with mode 0600
    try:
        with os.fdopen(fd, "w") as file:
            json.dump(values, file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def read(path: Path) -> Values | None:
    """The values in `path`; None when it is missing or not one JSON object."""
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def remove(path: Path) -> None:
    path.unlink(missing_ok=True)
