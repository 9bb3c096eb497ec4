"""`strata` in a process of its own, as people run it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import Member

ROOT = Path(__file__).resolve().parent.parent.parent
COMMAND = (sys.executable, "-m", "strata_memory.cli")
OURS = ("STRATA_URL", "STRATA_API_KEY", "MEMORY_HOME", "COLUMNS", "NO_COLOR")


@dataclass(frozen=True)
class Done:
    """How it ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def surroundings(**named: str) -> dict[str, str]:
    """An environment that names no server but what `named` does."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "PYTHONPATH": str(ROOT / "sdk" / "src"), "PYTHONUTF8": "1", **named}


def known(member: Member) -> dict[str, str]:
    """The environment of somebody who has the member's key."""
    return surroundings(STRATA_URL=str(member.http.base_url), STRATA_API_KEY=member.key)


def strata(
    member: Member | None,
    *arguments: str,
    typed: str = "",
    env: dict[str, str] | None = None,
    cwd: Path = ROOT / "tests",
) -> Done:
    """Runs the command; nothing of it may be a traceback, and nothing may show the key."""
    environment = env or (known(member) if member else surroundings())
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=environment, input=typed, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    if member is not None:
        assert member.key not in said
    return Done(done.returncode, done.stdout, done.stderr)
