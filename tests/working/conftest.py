import pytest

from tenants.caller import Caller
from tests.conftest import Member


@pytest.fixture
def caller(acme: Member) -> Caller:
    """Acme's unbound key."""
    return acme.caller
