"""Making a backup: one file, as of one moment, while everything goes on."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from redis.exceptions import RedisError

from memoryproject.backup import rows, session_keys, users
from memoryproject.backup.archive import Advance, Writer, created
from memoryproject.backup.catalog import read_migrations, read_tables
from memoryproject.backup.errors import BackupError
from tenants import audit
from tenants.errors import Unavailable
from tenants.models import Tenant
from tenants.router import admin_role

ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Made:
    """What a backup holds."""

    tenants: int
    rows: int
    sessions: int  # of Redis
    bytes: int  # of the file


def make_backup(
    *, path: Path, slug: str | None, force: bool, actor: str, advance: Advance = lambda count: None
) -> Made:
    """Writes every tenant, or that of the slug, into a file. Raises BackupError.

    Rows are those of one moment, and what only Redis holds is read right after it. A named cross-tenant job
    of the admin role, which reads only; memory is that of a row and a block, whatever there is.
    """
    try:
        with created(path, force=force) as file, Writer(file, advance) as archive:
            with admin_role(), transaction.atomic(using=ADMIN, durable=True):
                manifest, tenants = _dump_database(archive, slug)
            manifest["sessions"] = session_keys.dump(
                tenant_id=tenants[0].id if slug is not None else None, archive=archive
            )
            archive.finish(manifest)
    except (RedisError, Unavailable) as error:
        raise BackupError("Redis is away: what only it holds cannot be saved.") from error
    with admin_role(), transaction.atomic(using=ADMIN):
        for tenant in tenants:
            audit.record(tenant_id=tenant.id, actor=actor, action="tenant.backup", target=tenant.slug)
    total = sum(one["rows"] for one in manifest["tables"].values())
    return Made(len(tenants), total, manifest["sessions"], path.stat().st_size)


def _dump_database(archive: Writer, slug: str | None) -> tuple[dict[str, Any], list[Tenant]]:
    with connections[ADMIN].cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute("SELECT now()")
        (moment,) = cursor.fetchone()
        tenants = list(Tenant.objects.order_by("slug") if slug is None else _named(slug))
        one = tenants[0] if slug is not None else None
        manifest = {
            "product": settings.SPECTACULAR_SETTINGS["VERSION"],
            "made_at": moment.isoformat(),
            "of": "all" if one is None else "one",
            "tenants": [{"id": str(tenant.id), "slug": tenant.slug} for tenant in tenants],
            "migrations": read_migrations(cursor),
            "users": users.dump(tenant=one, using=ADMIN, archive=archive),
            "tables": _dump_tables(cursor, one, archive),
        }
    return manifest, tenants


def _named(slug: str) -> list[Tenant]:
    tenants = list(Tenant.objects.filter(slug=slug))
    if not tenants:
        raise BackupError(f"There is no tenant {slug!r}.")
    return tenants


def _dump_tables(cursor: CursorWrapper, one: Tenant | None, archive: Writer) -> dict[str, Any]:
    tenant_id = one.id if one else None
    return {
        table.name: rows.dump(cursor, table, tenant_id=tenant_id, archive=archive)
        for table in read_tables(cursor)
    }
