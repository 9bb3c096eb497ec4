import pytest

from tenants.caller import Caller
from tests.conftest import Member


@pytest.fixture
def caller(acme: Member) -> Caller:
    """Who calls with acme's key, in this process."""
    return acme.caller
