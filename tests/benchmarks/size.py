"""Installed size of a `.venv` as `make run` makes it, without test tools."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.processes import ROOT

INSTALL = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
LARGEST = 12


def report() -> dict[str, float]:
    """Builds one in a folder of its own with the Makefile's line; prints and returns megabytes on disk."""
    with tempfile.TemporaryDirectory(prefix="strata-size-") as folder:
        venv = Path(folder) / ".venv"
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        python = str(venv / "bin" / "python")
        subprocess.run(
            [python, "-m", "pip", *INSTALL, "-r", str(ROOT / "requirements" / "run.txt")], check=True
        )
        packages = next(venv.glob("lib/python*/site-packages"))
        sizes = {entry.name: megabytes(entry) for entry in packages.iterdir()}
        total = megabytes(venv)
    largest = dict(sorted(sizes.items(), key=lambda item: -item[1])[:LARGEST])
    print(f"installed size of .venv: {total:.0f} MB")
    for name, size in largest.items():
        print(f"  {size:6.1f} MB  {name}")
    return {"total": total, **largest}


def megabytes(path: Path) -> float:
    """Blocks on disk, as `du` counts them."""
    if not path.is_dir() or path.is_symlink():
        return path.lstat().st_blocks * 512 / 2**20
    total = 0
    for folder, _folders, files in os.walk(path):
        total += sum(os.lstat(os.path.join(folder, name)).st_blocks for name in [*files, "."])
    return total * 512 / 2**20
