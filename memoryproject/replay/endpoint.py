"""Finds the running server and its key."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryproject.replay.errors import ReplayError

NOT_RUNNING = (
    "No running Strata found{where}: start it with `make run`, or name one with --url or STRATA_URL."
)


@dataclass(frozen=True)
class Endpoint:
    """Where a server answers, and what it knows us by."""

    url: str
    api_key: str  # empty: none is sent


def find_endpoint(url: str, api_key: str, memory_home: Path) -> Endpoint:
    """Return what was asked for, else what the environment says, else what `make run` wrote down.

    The key that `make run` wrote down is used for that very server only, not sent to another address.
    """
    run = _read_run_file(memory_home / "run.json")
    local = _text(run, "url").rstrip("/")
    chosen = (url or os.environ.get("STRATA_URL", "") or local).rstrip("/")
    if not chosen:
        raise ReplayError(NOT_RUNNING.format(where=""))
    key = api_key or os.environ.get("STRATA_API_KEY", "")
    return Endpoint(chosen, key or (_text(run, "api_key") if chosen == local else ""))


def _read_run_file(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    except OSError as error:
        raise ReplayError(f"{path} cannot be read: {error.strerror}.") from error
    return found if isinstance(found, dict) else {}


def _text(run: dict[str, Any], name: str) -> str:
    value = run.get(name)
    return value if isinstance(value, str) else ""
