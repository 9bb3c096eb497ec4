"""The stores, the running server, and the named cast: `acme` and `globex`, who must never see each other.

Tests use real transactions: inside one outer test transaction the tenant setting would survive its scope, and
unscoped reads would pass. Every test has tenants of its own, so nothing needs to be cleaned between them.
"""

import os
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from django.core.management import call_command
from django.db import connections
from pytest_django.plugin import DjangoDbBlocker

from episodic import access
from ledger import latency
from tenants.api_keys import authenticate, create_api_key
from tenants.caller import Caller
from tenants.models import Tenant
from tenants.tenancy import create_tenant
from tests.plugin import HOME, PATIENCE, STORES
from tests.processes import Web

# When the tests are dealt out, these folders and files come first, in this order. What looks through all that
# there is: it takes the longer, the more tests have left something. Then what takes long in any case, so that
# no process is left alone with it at the end.
THOROUGH = (
    "jobs",
    "isolation",
    "recall/test_sweep_sessions.py",
    "recall/test_end_idle_session.py",
    "native/test_idle.py",
    "recall/test_sample_session.py",
    "recall/test_compact_turns.py",
    "golden",
    "native/test_agents.py",
    "backup",
    "tenants/test_generations.py",
    "observations/test_query_plans.py",
)
LONG = (
    "observability",
    "api/test_confinement.py",
    "console/test_every_page.py",
    "api/test_bad_input.py",
    "mcp",
    "privacy",
    "tenants",
    "recall/test_large_subjects.py",
    "observations",
    "console",
)
TESTS = Path(__file__).parent  # those of the client package are elsewhere, and quick
RANKS = {name: rank for rank, name in enumerate((*THOROUGH, *LONG))}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    if not item.path.is_relative_to(TESTS):
        return len(RANKS)
    path = item.path.relative_to(TESTS)
    return min(RANKS.get(str(path), len(RANKS)), RANKS.get(path.parts[0], len(RANKS)))


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
    # Where a test has more threads than connections, the last ones have theirs when others have ended.
    connections["default"].settings_dict["OPTIONS"]["pool"]["timeout"] = PATIENCE
    with django_db_blocker.unblock():
        call_command("migrate", database="owner", verbosity=0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _database(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        yield
        latency.flush()
        access.flush()  # what the tests have recalled: at the end of the process the stores are gone


@pytest.fixture(scope="session")
def _queue() -> Iterator[psycopg.Connection]:
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module", autouse=True)
def _leave_no_job_of_the_file(_database: None, _queue: psycopg.Connection) -> Iterator[None]:
    """What its shared fixtures have queued is not done by the next file's workers."""
    yield from _put_off(_queue)


@pytest.fixture(autouse=True)
def _leave_no_job(_queue: psycopg.Connection) -> Iterator[None]:
    """A test that lets jobs run meets its own only: it neither waits for others' nor does what they do."""
    yield from _put_off(_queue)


def _put_off(queue: psycopg.Connection) -> Iterator[None]:
    since = UUID(int=time.time_ns() // 1_000_000 << 80)  # jobs' ids begin with the ms of their making
    yield
    queue.execute(
        "UPDATE tenants_job SET run_at = now() + interval '1 day' WHERE id >= %s AND state = 'queued'",
        [since],
    )


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
