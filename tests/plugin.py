"""Starts PostgreSQL and Redis before Django reads its settings; pyproject.toml loads it.

With `-n`, each process that runs tests has stores of its own, and the one that deals the tests out has none.
"""

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import httpx._config
import httpx._transports.default
import httpx2._transports.default
import pytest
from _pytest.terminal import TerminalReporter
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

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


TRANSPORTS = (httpx._transports.default, httpx2._transports.default)
# Seconds for what a test names no time for: machines that run tests stand still at times.
PATIENCE = 60


def _be_patient() -> None:
    for part in ("connect", "read", "write", "pool"):
        setattr(httpx._config.DEFAULT_TIMEOUT_CONFIG, part, PATIENCE)
    # Tests of what comes too late have deadlines of their own.
    os.environ.setdefault("RECALL_STAGE_SECONDS", "30")
    # The same examples in every run: a change breaks a property, not the day.
    settings.register_profile("suite", deadline=None, derandomize=True, database=None)
    settings.load_profile("suite")


def _share_certificates() -> None:
    """Each client reads the certificate authorities anew, for 20 ms; the tests make tens of thousands."""
    for transport in TRANSPORTS:
        transport.create_ssl_context = cache(transport.create_ssl_context)


# Folders whose files share a deployment that takes long to set up.
TOGETHER = ("tests/backup", "tests/faults", "tests/observability", "tests/torture")


class ByFile(LoadScopeScheduling):
    """Deals out whole files or folders: their tests share what they set up."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        folder = file.rpartition("/")[0]
        return folder if folder in TOGETHER else file


@pytest.hookimpl(optionalhook=True)  # xdist's
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def _stop() -> None:
    if not DEALS_OUT:
        STORES.stop()
    if not WORKER:  # whose logs are still to be read
        shutil.rmtree(ROOT_FOLDER, ignore_errors=True)


if DEALS_OUT:
    os.environ.setdefault("SECRET_KEY", "tests only")
else:
    STORES.start()
    _be_patient()
    _share_certificates()
    os.environ.update(STORES.environment())
atexit.register(_stop)


def pytest_terminal_summary(terminalreporter: TerminalReporter, exitstatus: int) -> None:
    """After a failure, shows what the web processes complained about: their logs go with the folder."""
    logs = sorted(ROOT_FOLDER.glob("*/web.log")) if exitstatus else []
    lines = [line for log in logs for line in log.read_text(errors="replace").splitlines()]
    if complaints := [line for line in lines if line.startswith("Traceback") or '"level":"ERROR"' in line]:
        terminalreporter.section("the web processes' last words")
        terminalreporter.write_line("\n".join(complaints[-20:]))
