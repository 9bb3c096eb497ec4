import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenants import telemetry
from tenants.caller import Caller
from tests.conftest import Member
from tests.episodic.conftest import model_away  # noqa: F401  a fixture
from tests.faults.deployment import Deployment
from tests.observability.collector import Collector
from tests.observability.recorded import Spans


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


@pytest.fixture
def caller(acme: Member) -> Caller:
    return acme.caller


@pytest.fixture
def spans() -> Iterator[Spans]:
    """Content and all."""
    found = Spans()
    telemetry.trace_with(found.tracer, content=True)
    yield found
    telemetry.trace_with(None, content=False)


@pytest.fixture
def bare(spans: Spans) -> Spans:
    """As delivered."""
    telemetry.trace_with(spans.tracer, content=False)
    return spans
