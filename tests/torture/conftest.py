import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.works import Works


@pytest.fixture(scope="session")
def all_works(request: pytest.FixtureRequest) -> Iterator[Works]:
    home = Path(tempfile.mkdtemp(prefix="strata-torture-"))
    works = Works(home)
    try:
        works.start("one", TORTURE_CLOCK="-1200")  # only PostgreSQL's clock says what is due or expired
        works.start("two", TORTURE_CLOCK="1200")
        works.start("beat")
        yield works
    finally:
        works.stop()
        for folder in [works.stores.home, works.broker.home]:
            shutil.rmtree(folder, ignore_errors=True)
        if request.session.testsfailed:
            print(f"What the programs wrote is in {home}.")
        else:
            shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def works(all_works: Works) -> Works:
    """Both workers and beat run again, whatever the test before did to them."""
    assert set(all_works.programs) == {"one", "two", "beat"}
    all_works.keep()
    all_works.deaths.clear()
    return all_works
