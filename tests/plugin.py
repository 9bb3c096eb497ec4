"""Starts PostgreSQL and Redis before Django reads its settings; `-p tests.plugin` in pyproject.toml loads it."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tests.processes import Stores

HOME = Path(tempfile.mkdtemp(prefix="strata-tests-"))
STORES = Stores(HOME)


def _stop() -> None:
    STORES.stop()
    shutil.rmtree(HOME, ignore_errors=True)


STORES.start()
atexit.register(_stop)
os.environ.update(STORES.environment())
