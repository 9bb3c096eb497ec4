import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.deployment import Deployment, RunningWeb, answers, wait_until


@pytest.fixture(scope="session")
def deployment() -> Iterator[Deployment]:
    home = Path(tempfile.mkdtemp(prefix="strata-faults-"))
    deployed = Deployment(home)
    yield deployed
    deployed.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_web(deployment: Deployment) -> Iterator[RunningWeb]:
    running = deployment.web()
    yield running
    running.stop()


@pytest.fixture
def web(deployment: Deployment, shared_web: RunningWeb) -> Iterator[RunningWeb]:
    """One web process for all tests: each has to leave it able to serve without a restart."""
    assert answers(shared_web.http)
    yield shared_web
    wait_until(lambda: shared_web.http.get("/ready").status_code == 200, 20)
