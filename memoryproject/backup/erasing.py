"""Erasures that a backup does not know of: whoever was erased since is erased again, before anyone can look.

A tombstone names nobody. Each person that the restored rows name is therefore looked up among the tombstones,
and erased by the handlers of an erasure, in the transaction that brought the rows back.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.backup.catalog import Table
from memoryproject.backup.router import OWNER
from tenants.models import Tombstone
from tenants.privacy.registry import Record, Rows, Subject, handlers
from tenants.subjects import token_principal
from tenants.tombstones import subject_of

TEXTS = ("character varying", "text")
PEOPLE = "restore_people"  # the cursor
AT_ONCE = 5_000

# Beside the columns that are called so: people whose tokens were answered, and whose erasure was under way.
FURTHER = """
SELECT substr(principal, length(%(token)s::text) + 1) FROM tenants_storedanswer
WHERE tenant_id = %(tenant)s AND starts_with(principal, %(token)s)
UNION SELECT payload->>'user_id' FROM tenants_job WHERE tenant_id = %(tenant)s
"""


class Erased:
    """The erasures of the restored tenants, as the tables and the journal have them together."""

    def __init__(self, tenant_ids: list[UUID], *, since: datetime) -> None:
        mine = Tombstone.objects.using(OWNER).filter(tenant_id__in=tenant_ids).order_by("erased_at")
        self._until: dict[tuple[UUID, str], datetime] = {}
        self._newer: set[tuple[UUID, str]] = set()
        for row in mine.values("tenant_id", "subject", "erased_at", "completed_at"):
            person = (row["tenant_id"], row["subject"])
            self._until[person] = row["erased_at"]
            if row["completed_at"] is None or row["completed_at"] > since:
                self._newer.add(person)

    def is_since(self, tenant_id: UUID, user_id: str) -> bool:
        """Whether the person's erasure ended after the backup's moment, or has not ended."""
        return (tenant_id, subject_of(tenant_id=tenant_id, user_id=user_id)) in self._newer

    def apply(self, cursor: CursorWrapper, tables: list[Table], tenant_ids: list[UUID]) -> dict[UUID, int]:
        """Erases, of every person with a tombstone, what came in until then; of how many there was something,
        by tenant.

        Runs in the open transaction of `owner_role()`.
        """
        return {tenant_id: self._apply(cursor, tables, tenant_id) for tenant_id in tenant_ids}

    def _apply(self, cursor: CursorWrapper, tables: list[Table], tenant_id: UUID) -> int:
        if not any(tenant == tenant_id for tenant, _subject in self._until):
            return 0
        found = []
        for user_id in _people(cursor, tables, tenant_id):
            until = self._until.get((tenant_id, subject_of(tenant_id=tenant_id, user_id=user_id)))
            if until is not None:
                found.append(Subject(tenant_id, user_id, until))
        return sum(bool(_erase(subject)) for subject in found)


def _people(cursor: CursorWrapper, tables: list[Table], tenant_id: UUID) -> Iterator[str]:
    """Every user id that the tenant's rows name."""
    selects = [
        sql.SQL("SELECT user_id FROM {} WHERE tenant_id = %(tenant)s").format(sql.Identifier(table.name))
        for table in tables
        if table.columns.get("user_id", "").startswith(TEXTS)
    ]
    union = sql.SQL(" UNION ").join([*selects, sql.SQL(FURTHER)])
    query = sql.SQL("DECLARE {} NO SCROLL CURSOR FOR {}").format(sql.Identifier(PEOPLE), union)
    cursor.execute(query, {"tenant": tenant_id, "token": token_principal("")})
    while True:
        cursor.execute(f"FETCH {AT_ONCE} FROM {PEOPLE}")
        rows = cursor.fetchall()
        if not rows:
            break
        yield from (user_id for (user_id,) in rows if user_id)
    cursor.execute(f"CLOSE {PEOPLE}")


def _tell_nobody(row: Record) -> None:
    """The receipt of the erasure, which tells of the rows that went, was written the first time."""


def _erase(subject: Subject) -> int:
    erased = 0
    for handler in handlers().values():
        if isinstance(handler, Rows):
            while batch := handler.erase(subject, _tell_nobody):
                erased += batch
    return erased
