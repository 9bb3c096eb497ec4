"""Virtual environments of the peers, outside the checkout, made once for each list of requirements."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


class NotInstalled(Exception):
    """The peer cannot be had here. The text says why."""


def default_cache() -> Path:
    """Where the user's caches are."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "strata-peers"


def python_of(peer: str, cache: Path) -> Path:
    """The interpreter of the peer's environment, which is made if it is missing. Raises NotInstalled."""
    requirements = HERE / f"requirements-{peer}.txt"
    digest = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache / f"{peer}-{digest}"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"Installing {peer} into {folder} …", flush=True)
        unfinished = folder.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(unfinished)])
        _run([str(unfinished / "bin" / "python"), "-m", "pip", "install", "-q", "-r", str(requirements)])
        unfinished.rename(folder)  # the interpreter finds its packages from where it stands
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if "WARNING" not in line][-3:]
        raise NotInstalled(" ".join(last) or f"{command[2]} ended with {done.returncode}")
