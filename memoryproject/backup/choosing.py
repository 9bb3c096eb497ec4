"""Whether a backup fits the database, and which tenants of it are to come back."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.backends.utils import CursorWrapper

from memoryproject.backup.catalog import Table, read_migrations
from memoryproject.backup.errors import BackupError
from memoryproject.backup.router import OWNER
from tenants.models import Tenant


@dataclass(frozen=True, slots=True)
class Choice:
    """The tenants that come back; those of them that are here; others here that have their names."""

    tenants: dict[UUID, str]
    here: list[UUID]
    namesakes: list[Tenant]
    is_all: bool  # of the backup

    @property
    def ids(self) -> list[UUID]:
        return list(self.tenants)


def choose(manifest: dict[str, Any], *, slug: str | None, replace: bool) -> Choice:
    """Locks those that are here in the open transaction: what would write to them waits until its end.

    Raises BackupError when the backup has no such tenant, or when one is here and is not to be replaced.
    """
    wanted = {UUID(one["id"]): one["slug"] for one in manifest["tenants"] if slug in (None, one["slug"])}
    if not wanted:
        raise BackupError(f"The backup has no tenant {slug!r}." if slug else "The backup has no tenants.")
    # A new row of a tenant shares a lock on the tenant's, through the foreign key; this one excludes it.
    locked = Tenant.objects.using(OWNER).select_for_update().order_by("id")
    here = list(locked.filter(id__in=wanted).values_list("id", "slug"))
    namesakes = list(locked.filter(slug__in=wanted.values()).exclude(id__in=wanted))
    names = sorted([name for _id, name in here] + [one.slug for one in namesakes])
    if names and not replace:
        raise BackupError(
            f"The database has {_listed(names)} already; --replace puts the backup in its place."
        )
    return Choice(wanted, [tenant_id for tenant_id, _slug in here], namesakes, slug is None)


def check_fits(manifest: dict[str, Any], cursor: CursorWrapper, tables: list[Table]) -> None:
    """Raises BackupError unless the database has the tables that the backup was made of."""
    migrations = read_migrations(cursor)
    theirs = manifest["migrations"]
    differ = [app for app in sorted({*migrations, *theirs}) if migrations.get(app) != theirs.get(app)]
    if differ:
        told = "; ".join(
            f"{app} is at {migrations.get(app, 'none')}, the backup at {theirs.get(app, 'none')}"
            for app in differ
        )
        raise BackupError(
            f"The database's migrations are not those of the backup: {told}. Restore with the version that "
            f"made it ({manifest['product']}) into a database that this version has migrated, then update "
            "and migrate."
        )
    found = {table.name: table.columns for table in tables}
    saved = {name: one["columns"] for name, one in manifest["tables"].items()}
    if found != saved:
        names = sorted(name for name in {*found, *saved} if found.get(name) != saved.get(name))
        raise BackupError(f"The database's tables differ from those of the backup: {', '.join(names)}.")


def _listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more of its tenants"
    return ", ".join(names)
