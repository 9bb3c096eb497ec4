import os
from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.conftest import Member, make_member
from tests.plugin import HOME
from tests.processes import Web


@pytest.fixture(scope="module")
def long_lived(server: str) -> Member:
    """A tenant for a whole module, for properties that make many calls."""
    return make_member("acme", server)


@pytest.fixture(scope="session")
def strict_server(server: str) -> Iterator[str]:
    """A server that refuses what is too large instead of keeping it."""
    web = Web({**os.environ, "WORKING_MEMORY_STRICT": "1"}, log=HOME / "strict.log")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


@pytest.fixture
def strict(strict_server: str) -> Member:
    return make_member("acme", strict_server)


@pytest.fixture
def put(acme: Member) -> Callable[..., httpx.Response]:
    """Puts fields into conversation `c` of acme."""

    def _put(data: object, session: str = "c", **more: object) -> httpx.Response:
        return acme.http.put(f"/working-memory/{session}", json={"data": data, **more})

    return _put
