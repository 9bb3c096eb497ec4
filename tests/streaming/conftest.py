from collections.abc import Iterator

import pytest

from tests.plugin import HOME
from tests.streaming.server import StreamServer


@pytest.fixture(scope="module")
def streams(_database: None) -> Iterator[StreamServer]:
    """The address of a stream server that runs on the tests' stores."""
    server = StreamServer(HOME / "web.log")
    yield server
    server.stop()
