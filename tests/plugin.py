"""Starts PostgreSQL and Redis before Django reads its settings; pyproject.toml loads it."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from _pytest.terminal import TerminalReporter

from tests.processes import Stores

HOME = Path(tempfile.mkdtemp(prefix="strata-tests-"))
STORES = Stores(HOME)


def _stop() -> None:
    STORES.stop()
    shutil.rmtree(HOME, ignore_errors=True)


STORES.start()
atexit.register(_stop)
os.environ.update(STORES.environment())


def pytest_terminal_summary(terminalreporter: TerminalReporter, exitstatus: int) -> None:
    """After a failure, shows what the web process complained about: its log goes with the folder."""
    log = HOME / "web.log"
    lines = log.read_text(errors="replace").splitlines() if exitstatus and log.exists() else []
    if complaints := [line for line in lines if line.startswith("Traceback") or '"level":"ERROR"' in line]:
        terminalreporter.section("the web process's last words")
        terminalreporter.write_line("\n".join(complaints[-20:]))
