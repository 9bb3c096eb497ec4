"""The JSON lines of a log file."""

import json
from pathlib import Path
from typing import Any


def lines_of(log: Path, **wanted: Any) -> list[dict[str, Any]]:
    """The lines whose fields are as wanted."""
    found = []
    for line in log.read_text().splitlines():
        if line.startswith("{"):
            entry = json.loads(line)
            if all(entry.get(name) == value for name, value in wanted.items()):
                found.append(entry)
    return found
