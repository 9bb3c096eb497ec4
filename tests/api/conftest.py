import pytest

from tests.conftest import Member, make_member


@pytest.fixture(scope="module")
def long_lived(server: str) -> Member:
    """A tenant for a whole module, for tests that make many calls."""
    return make_member("acme", server)
