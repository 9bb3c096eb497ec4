"""The stores, the running server, and the named cast: `acme` and `globex`, who must never see each other.

Tests use real transactions: inside one outer test transaction the tenant setting would survive its scope, and
unscoped reads would pass. Every test has tenants of its own, so nothing needs to be cleaned between them.
"""

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from pytest_django.plugin import DjangoDbBlocker

from tenants.api_keys import authenticate, create_api_key
from tenants.caller import Caller
from tenants.models import Tenant
from tenants.tenancy import create_tenant
from tests.plugin import HOME
from tests.processes import Web

# Long ones first, so that no process is left alone with one at the end.
LONG = ("privacy", "observability", "observations")


@pytest.hookimpl(tryfirst=True)  # xdist reads the marks in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """When the tests are dealt out, those of a file stay together: they share what it sets up."""
    for item in items:
        item.add_marker(pytest.mark.xdist_group(str(item.path)))
    items.sort(key=lambda item: (*LONG, _folder(item)).index(_folder(item)))


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).parts[0]


@dataclass
class Member:
    """A tenant with a key, and a client that sends it to the running server."""

    tenant: Tenant
    key: str
    caller: Caller
    http: httpx.Client

    def with_key(self, **bindings: Any) -> "Member":
        """The same tenant through another key: `user_id`, `agent_id`, `project`, `scopes`, `expires_at`."""
        _key, text = create_api_key(tenant=self.tenant, actor="test", **bindings)
        http = httpx.Client(base_url=self.http.base_url, headers=_headers(text), timeout=30)
        return Member(self.tenant, text, authenticate(text), http)


@pytest.fixture(scope="session")
def django_db_setup(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Migrates as the owner; `default` is the app role."""
    with django_db_blocker.unblock():
        call_command("migrate", database="owner", verbosity=0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="session")
def server(_database: None) -> Iterator[str]:
    """The address of a web process that runs on the tests' stores."""
    web = Web(dict(os.environ), log=HOME / "web.log")
    try:
        yield web.wait_until_alive().url
    finally:
        web.stop()


def make_member(name: str, server: str) -> Member:
    tenant = create_tenant(slug=f"{name}-{secrets.token_hex(4)}", name=name, actor="test")
    _key, text = create_api_key(tenant=tenant, actor="test")
    http = httpx.Client(base_url=server, headers=_headers(text), timeout=30)
    return Member(tenant, text, authenticate(text), http)


@pytest.fixture
def acme(server: str) -> Member:
    return make_member("acme", server)


@pytest.fixture
def globex(server: str) -> Member:
    return make_member("globex", server)


def _headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
