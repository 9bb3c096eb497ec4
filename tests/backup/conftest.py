import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenants.models import Tenant
from tenants.tenancy import create_tenant
from tests.backup.places import Place, fill, make_place


@pytest.fixture(scope="session")
def place(_database: None) -> Iterator[Place]:
    """Another machine."""
    return make_place(redis=5)


@pytest.fixture
def tenant(_database: None) -> Tenant:
    """With rows in every table."""
    made = create_tenant(slug=f"saved-{secrets.token_hex(4)}", name="saved", actor="test")
    fill(made)
    return made


@pytest.fixture
def other(_database: None) -> Tenant:
    made = create_tenant(slug=f"other-{secrets.token_hex(4)}", name="other", actor="test")
    fill(made)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "all.backup"
