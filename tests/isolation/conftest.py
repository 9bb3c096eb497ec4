"""Two tenants, and psycopg connections of each role, past Django and its guard."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.conf import settings

from tenants.caller import Caller
from tenants.tenancy import create_tenant
from tests.isolation.walls import Connection, Rows, make_rows
from tests.plugin import STORES


@pytest.fixture(scope="session")
def tenants(_database: None) -> tuple[UUID, UUID]:
    """acme and globex. One pair serves all tests here: none of them leaves anything behind."""
    acme, globex = (
        create_tenant(slug=f"{name}-walls", name=name, actor="test").id for name in ("acme", "globex")
    )
    return acme, globex


@pytest.fixture(scope="session")
def rows_of(tenants: tuple[UUID, UUID]) -> Callable[[str], Rows]:
    """Makes the rows of a table, once."""
    made: dict[str, Rows] = {}

    def rows(table: str) -> Rows:
        if table not in made:
            made[table] = make_rows(table, *tenants)
        return made[table]

    return rows


@pytest.fixture
def admin(tenants: tuple[UUID, UUID], rows_of: Callable[[str], Rows]) -> Caller:
    """globex' admin. In the tables that only the admin role writes, both tenants have a row."""
    for table in ("knowledge_procedure", "knowledge_deployment", "tenants_member"):
        rows_of(table)
    return Caller(tenants[1], "globex-walls", "k", frozenset({"admin"}))


def connect(url: str, **options: Any) -> Iterator[Connection]:
    with psycopg.connect(url, **options) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def as_app() -> Iterator[Connection]:
    """A fresh connection of the app role, as any process with DATABASE_URL could open it."""
    yield from connect(settings.DATABASE_URLS["default"])


@pytest.fixture
def as_owner() -> Iterator[Connection]:
    yield from connect(settings.DATABASE_URLS["owner"])


@pytest.fixture
def as_admin() -> Iterator[Connection]:
    yield from connect(settings.DATABASE_URLS["admin"])


@pytest.fixture
def as_superuser() -> Iterator[Connection]:
    """Whatever it changes is rolled back, by PostgreSQL itself if the test process dies."""
    yield from connect(STORES.postgres.superuser_url("strata"))
