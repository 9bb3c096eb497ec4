"""Starts PostgreSQL and Redis before Django reads its settings; pyproject.toml loads it.

With `-n`, each process that runs tests has stores of its own, and the one that deals the tests out has none.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from _pytest.terminal import TerminalReporter

from tests.processes import Stores

FOLDER = "STRATA_TESTS_FOLDER"  # of the whole run; handed down to the processes that run tests
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
DEALS_OUT = not WORKER and any(argument.startswith(("-n", "--numprocesses")) for argument in sys.argv[1:])

if not WORKER:
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="strata-tests-")
ROOT_FOLDER = Path(os.environ[FOLDER])
HOME = ROOT_FOLDER / (WORKER or "only")
HOME.mkdir(exist_ok=True)
STORES = Stores(HOME)


def _stop() -> None:
    if not DEALS_OUT:
        STORES.stop()
    if not WORKER:  # whose logs are still to be read
        shutil.rmtree(ROOT_FOLDER, ignore_errors=True)


if DEALS_OUT:
    os.environ.setdefault("SECRET_KEY", "tests only")
else:
    STORES.start()
    os.environ.update(STORES.environment())
atexit.register(_stop)


def pytest_terminal_summary(terminalreporter: TerminalReporter, exitstatus: int) -> None:
    """After a failure, shows what the web processes complained about: their logs go with the folder."""
    logs = sorted(ROOT_FOLDER.glob("*/web.log")) if exitstatus else []
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
    if complaints := [line for line in lines if line.startswith("Traceback") or '"level":"ERROR"' in line]:
        terminalreporter.section("the web processes' last words")
        terminalreporter.write_line("\n".join(complaints[-20:]))
