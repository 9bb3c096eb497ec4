"""A second database on the same server, tenants with a row in every table, and what can be seen of them."""

import json
import os
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.db import connections
from psycopg import sql

from memoryproject.backup.catalog import Table, read_tables
from memoryproject.backup.making import Made, make_backup
from memoryproject.backup.restoring import Restored, restore_backup
from tenants.models import Tenant, TenantEmbedding
from tenants.provision import provision
from tests.isolation.tables import FACTORIES, TENANT_MODELS, store
from tests.plugin import STORES
from tests.processes import ROOT, manage

Rows = dict[str, list[str]]
LOGGED = "tenants_auditentry"  # where a restore itself leaves a row


@dataclass(frozen=True)
class Place:
    """A migrated database, empty at first, with a Redis of its own."""

    environment: dict[str, str]

    def manage(self, *args: str) -> str:
        return manage(*args, environment=self.environment)

    def refused(self, *args: str) -> str:
        """What a command says that is not done."""
        done = subprocess.run(
            [sys.executable, "manage.py", *args],
            cwd=ROOT,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0, done.stdout
        return done.stderr

    def rows(self, tenant_id: UUID) -> Rows:
        with psycopg.connect(self.environment["DATABASE_ADMIN_URL"]) as connection:
            return _rows(connection.cursor(), tables(), tenant_id)

    def ask(self, query: str, *params: Any) -> Any:
        with psycopg.connect(self.environment["DATABASE_OWNER_URL"]) as connection:
            row = connection.execute(query, params).fetchone()
            return row[0] if row else None


def make_place(redis: int) -> Place:
    name = f"place_{secrets.token_hex(4)}"
    urls = {
        role: STORES.postgres.url(f"strata_{role}", f"{role}-pw", name) for role in ("app", "owner", "admin")
    }
    provision(
        superuser_url=STORES.postgres.superuser_url(),
        app_url=urls["app"],
        owner_url=urls["owner"],
        admin_url=urls["admin"],
    )
    place = Place(
        {
            **STORES.environment(),
            "DATABASE_URL": urls["app"],
            "DATABASE_OWNER_URL": urls["owner"],
            "DATABASE_ADMIN_URL": urls["admin"],
            "REDIS_URL": STORES.redis.url(redis),
        }
    )
    place.manage("migrate", "--database", "owner", "-v0")
    return place


def fill(tenant: Tenant) -> None:
    """Two more rows in every table of the tenant, one in all where there can be no more."""
    for model in TENANT_MODELS:
        is_single = model is TenantEmbedding
        if is_single and model._default_manager.using("admin").filter(tenant_id=tenant.id).exists():
            continue
        for _ in range(1 if is_single else 2 * (model is not Tenant)):
            store(FACTORIES[model](tenant.id))


def tables() -> list[Table]:
    with connections["admin"].cursor() as cursor:
        return read_tables(cursor)


def rows_of(tenant: Tenant) -> Rows:
    """Every row of the tenant here, with its generated columns, in the order of their texts. The
    transaction that recorded it is each database's own."""
    with connections["admin"].cursor() as cursor:
        return _rows(cursor, tables(), tenant.id)


def _rows(cursor: Any, found: list[Table], tenant_id: UUID) -> Rows:
    rows = {}
    for table in found:
        query = sql.SQL(
            "SELECT (to_jsonb(row) - 'recorded_in')::text FROM {} row WHERE {} = %s ORDER BY 1"
        ).format(sql.Identifier(table.name), sql.Identifier(table.tenant_column))
        cursor.execute(query, [tenant_id])
        rows[table.name] = [text for (text,) in cursor.fetchall()]
    return rows


def without_log(rows: Rows) -> Rows:
    return {name: texts for name, texts in rows.items() if name != LOGGED}


def without_users(rows: Rows) -> Rows:
    """Members without the number of their Django user, which another database gives anew."""
    members = [
        json.dumps(json.loads(text) | {"user_id": 0}, sort_keys=True) for text in rows["tenants_member"]
    ]
    return rows | {"tenants_member": sorted(members)}


def backup(path: Path, tenant: Tenant | None = None) -> Made:
    return make_backup(path=path, slug=tenant.slug if tenant else None, force=False, actor="test")


def restore(path: Path, tenant: Tenant | None, **options: Any) -> Restored:
    chosen = {"replace": True, "erasures": None, "other_secret_key": False} | options
    return restore_backup(path=path, slug=tenant.slug if tenant else None, actor="test", **chosen)
