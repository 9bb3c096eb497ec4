"""Servers of their own for tests that change roles, and tenants without a running web process."""

import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tenants.models import Tenant
from tenants.tenancy import create_tenant
from tests.processes import ROOT, Stores


@pytest.fixture
def new_tenant() -> Callable[[str], Tenant]:
    """Makes a tenant whose slug begins with the given name."""

    def make(name: str) -> Tenant:
        return create_tenant(slug=f"{name}-{secrets.token_hex(4)}", name=name, actor="test")

    return make


@pytest.fixture
def acme_tenant(new_tenant: Callable[[str], Tenant]) -> Tenant:
    return new_tenant("acme")


@pytest.fixture
def globex_tenant(new_tenant: Callable[[str], Tenant]) -> Tenant:
    return new_tenant("globex")


@pytest.fixture(scope="session")
def other_stores() -> Iterator[Stores]:
    """Provisioned stores whose roles and databases tests may change; nothing is migrated in them."""
    home = Path(tempfile.mkdtemp(prefix="strata-tests-other-"))
    stores = Stores(home)
    stores.start()
    yield stores
    stores.stop()
    shutil.rmtree(home, ignore_errors=True)


def superuser_sql(stores: Stores, *statements: str, database: str = "strata") -> list[tuple]:
    """Runs statements as the superuser; the rows of the last."""
    rows: list[tuple] = []
    with psycopg.connect(stores.postgres.superuser_url(database), autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
    return rows


def run_manage(*args: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A management command in a process of its own, with no setting but those given."""
    return subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
