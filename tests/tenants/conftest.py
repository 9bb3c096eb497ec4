"""Servers of their own for tests that change roles, and tenants without a running web process."""

import logging
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from tenants import jwks
from tenants.errors import Unauthenticated
from tenants.models import Tenant
from tenants.tenancy import create_tenant
from tenants.tokens import REFUSAL, authenticate_token
from tests.processes import ROOT, Stores
from tests.tenants.issuer import AUDIENCE, ISSUER, SECRET, JwksServer, jwk


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


@pytest.fixture
def shared_secret(settings) -> None:
    """Tokens are signed with a secret."""
    settings.JWT_ALGORITHMS, settings.JWT_SECRET, settings.JWT_JWKS_URL = ["HS256"], SECRET, ""
    settings.JWT_AUDIENCE, settings.JWT_ISSUER, settings.JWT_LEEWAY_SECONDS = AUDIENCE, ISSUER, 5


@pytest.fixture
def published_keys(settings) -> Iterator[JwksServer]:
    """Tokens are signed with published keys."""
    server = JwksServer()
    server.keys = [jwk("r"), jwk("e", "EC"), jwk("o", "OKP")]
    settings.JWT_ALGORITHMS, settings.JWT_SECRET = ["RS256", "PS256", "ES256", "EdDSA"], ""
    settings.JWT_JWKS_URL = server.url
    settings.JWT_AUDIENCE, settings.JWT_ISSUER, settings.JWT_LEEWAY_SECONDS = AUDIENCE, ISSUER, 5
    yield server
    jwks.key_set().stop()
    server.stop()


@pytest.fixture
def reason(caplog) -> Callable[[str], str]:
    """Why a token was refused, which only the log knows; the caller is told nothing."""

    def of(text: str) -> str:
        caplog.clear()
        with pytest.raises(Unauthenticated) as caught:
            authenticate_token(text)
        assert str(caught.value) == REFUSAL
        assert caught.value.__cause__ is None
        [record] = [record for record in caplog.records if record.name == "tenants.tokens"]
        assert (record.levelno, record.getMessage()) == (logging.WARNING, "token_refused")
        assert len(text) < 20 or text not in str(vars(record))
        return record.fields["reason"]

    return of
