import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.episodic.conftest import model_away  # noqa: F401  a fixture
from tests.faults.deployment import Deployment
from tests.observability.collector import Collector


@pytest.fixture(scope="session")
def observed() -> Iterator[Deployment]:
    """Stores of its own, so that what is counted and logged is known."""
    home = Path(tempfile.mkdtemp(prefix="strata-observed-"))
    deployed = Deployment(home)
    yield deployed
    deployed.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.stop()
