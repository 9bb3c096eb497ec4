"""Running our code as somebody who is not root, when the tests run as root."""

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent.parent
NOT_NEEDED = ("site-packages", "test", "__pycache__", "config-*", "idlelib", "tkinter", "ensurepip")
_copied: list[Path] = []


def ordinary_environment() -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    libraries = [str(folder / "lib") for folder in _copied]
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *packages]),
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"LD_LIBRARY_PATH": os.pathsep.join(libraries)} if libraries else {}),
    }


def ordinary_account() -> dict[str, Any]:
    """Popen's arguments that make a child an ordinary user's: the caller's own, or `nobody`'s for root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@cache
def ordinary_python(folder: Path) -> str:
    """A Python that an ordinary user can run: ours, or, when it is hidden below /root, a copy in `folder`."""
    if _works(sys.executable):
        return sys.executable
    copy = _copy_python(folder)
    if not _works(copy):
        pytest.skip("an ordinary user can run neither this Python nor a copy of it with our packages")
    return copy


def _copy_python(folder: Path) -> str:
    original = Path(sys.executable).resolve()
    library = Path(sysconfig.get_path("stdlib"))
    (folder / "bin").mkdir()
    shutil.copy(original, folder / "bin")
    shutil.copytree(library, folder / "lib" / library.name, ignore=shutil.ignore_patterns(*NOT_NEEDED))
    for shared in library.parent.glob("libpython*.so*"):
        shutil.copy(shared, folder / "lib")
    _copied.append(folder)
    return str(folder / "bin" / original.name)


def _works(python: str) -> bool:
    command = [python, "-c", "import psycopg, redis, memoryproject.embedded.postgres"]
    try:
        done = subprocess.run(
            command, cwd="/", env=ordinary_environment(), capture_output=True, timeout=30, check=False,
            **ordinary_account(),
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0
