"""Writes the client's operations, models and groups from the API's description: `python -m sdk.generating`.

With a path, from that OpenAPI document; without one, from what the server's code says. What it writes is
committed; the tests compare.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from .package import GENERATED, files_of

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "sdk" / "src" / "strata_memory"


def main(arguments: list[str]) -> None:
    wanted = files_of(_read(Path(arguments[0])) if arguments else _described())
    for name in written() - set(wanted):
        (PACKAGE / name).unlink()
    for name, text in wanted.items():
        path = PACKAGE / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def written() -> set[str]:
    """The files of the package that were generated."""
    paths = (path for folder in GENERATED for path in (PACKAGE / folder).glob("*.py"))
    return {path.relative_to(PACKAGE).as_posix() for path in paths}


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(path.read_text(), yaml.CSafeLoader)
    return document


def _described() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "openapi.yaml")
        command = [sys.executable, "-W", "ignore", "manage.py", "spectacular", "--file", str(path)]
        settings = {"SECRET_KEY": "nothing is signed here", **os.environ}
        subprocess.run(command, cwd=ROOT, env=settings, check=True)
        return _read(path)


if __name__ == "__main__":
    main(sys.argv[1:])
