import pytest

from tenants.caller import Caller
from tests.conftest import Member
from tests.episodic.conftest import model_away

__all__ = ["caller", "model_away"]


@pytest.fixture
def caller(acme: Member) -> Caller:
    """Acme's unbound key."""
    return acme.caller
