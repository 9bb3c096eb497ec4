"""Processes that use the client as a person's would."""

import os
import subprocess
import sys
from pathlib import Path

import strata_memory

SOURCE = Path(strata_memory.__file__).parent.parent


def began(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """The process of a script, whose input and output are pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def told(script: str, *arguments: str) -> list[str]:
    """The lines that a script writes until it ends, errors among them. Fails if it does not end."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    return [*done.stdout.splitlines(), f"status {done.returncode}"]
