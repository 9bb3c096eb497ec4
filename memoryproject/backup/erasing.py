"""Erasures that a backup does not know of: whoever was erased since is erased again, before anyone can look.

A tombstone names nobody. Each person that the backup names is therefore looked up among the tombstones, and
erased by the handlers of an erasure, in the transaction that brought the rows back.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain
from uuid import UUID

from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.backup.catalog import Table
from memoryproject.backup.router import OWNER
from tenants.models import Tombstone
from tenants.privacy.registry import Record, Rows, Subject, handlers
from tenants.subjects import token_principal
from tenants.tombstones import subject_of
from working.types import SessionRef

TEXTS = ("character varying", "text")
PEOPLE = "restore_people"  # the cursor
AT_ONCE = 5_000

# Beside the columns that are called so, and lists: people whose tokens were answered, whose erasure was under
# way, under whose names nobody's items stand, and whom a list in JSON tells of.
FURTHER = """
SELECT substr(principal, length(%(token)s::text) + 1) FROM tenants_storedanswer
WHERE tenant_id = %(tenant)s AND starts_with(principal, %(token)s)
UNION SELECT payload->>'user_id' FROM tenants_job WHERE tenant_id = %(tenant)s
UNION SELECT string_to_table(path, '.') FROM store_items WHERE tenant_id = %(tenant)s AND user_id = ''
UNION SELECT jsonb_path_query(entities_mentioned, '$[*]') #>> '{}' FROM agent_episodes
WHERE tenant_id = %(tenant)s
"""


class Erased:
    """The erasures of the restored tenants, as the tables and the journal have them together."""

    def __init__(self, tenant_ids: list[UUID], *, since: datetime) -> None:
        mine = Tombstone.objects.using(OWNER).filter(tenant_id__in=tenant_ids).order_by("erased_at")
        self._until: dict[tuple[UUID, str], datetime] = {}
        self._newer: set[tuple[UUID, str]] = set()
        self._sessions: dict[tuple[UUID, str], set[SessionRef]] = defaultdict(set)  # by owner
        self._taken: set[SessionRef] = set()
        for row in mine.values("tenant_id", "subject", "erased_at", "completed_at"):
            person = (row["tenant_id"], row["subject"])
            self._until[person] = row["erased_at"]
            if row["completed_at"] is None or row["completed_at"] > since:
                self._newer.add(person)

    def _is_since(self, tenant_id: UUID, user_id: str) -> bool:
        """Whether the person's erasure ended after the backup's moment, or has not ended."""
        return (tenant_id, subject_of(tenant_id=tenant_id, user_id=user_id)) in self._newer

    def add_sessions(self, owners: Iterable[tuple[SessionRef, str]]) -> None:
        """Has the sessions without a user of those of these owners who were erased since go with them."""
        for ref, user_id in owners:
            if self._is_since(ref.tenant_id, user_id):
                self._sessions[ref.tenant_id, user_id].add(ref)
                self._taken.add(ref)

    def takes(self, ref: SessionRef) -> bool:
        """Whether the session is of somebody who was erased since."""
        return ref in self._taken or self._is_since(ref.tenant_id, ref.user_id)

    def apply(self, cursor: CursorWrapper, tables: list[Table], tenant_ids: list[UUID]) -> dict[UUID, int]:
        """Erases, of every person with a tombstone, what came in until then; of how many there was something,
        by tenant.

        Runs in the open transaction of `owner_role()`.
        """
        return {tenant_id: self._apply(cursor, tables, tenant_id) for tenant_id in tenant_ids}

    def _apply(self, cursor: CursorWrapper, tables: list[Table], tenant_id: UUID) -> int:
        if not any(tenant == tenant_id for tenant, _subject in self._until):
            return 0
        found: dict[str, datetime] = {}
        owners = (user_id for tenant, user_id in self._sessions if tenant == tenant_id)
        for user_id in chain(_people(cursor, tables, tenant_id), owners):
            until = self._until.get((tenant_id, subject_of(tenant_id=tenant_id, user_id=user_id)))
            if until is not None:
                found[user_id] = until
        return sum(bool(_erase(self._subject(tenant_id, *one))) for one in found.items())

    def _subject(self, tenant_id: UUID, user_id: str, until: datetime) -> Subject:
        mine = self._sessions.get((tenant_id, user_id), ())
        sessions = sorted((ref.namespace, ref.session_id) for ref in mine)
        return Subject(tenant_id, user_id, until, tuple(sessions))


def _people(cursor: CursorWrapper, tables: list[Table], tenant_id: UUID) -> Iterator[str]:
    """Every user id that the tenant's rows name, and whatever else there may be one."""
    selects = [_select(table, column) for table in tables for column in table.columns]
    union = sql.SQL(" UNION ").join([*filter(None, selects), sql.SQL(FURTHER)])
    query = sql.SQL("DECLARE {} NO SCROLL CURSOR FOR {}").format(sql.Identifier(PEOPLE), union)
    cursor.execute(query, {"tenant": tenant_id, "token": token_principal("")})
    while True:
        cursor.execute(f"FETCH {AT_ONCE} FROM {PEOPLE}")
        rows = cursor.fetchall()
        if not rows:
            break
        yield from (user_id for (user_id,) in rows if user_id)
    cursor.execute(f"CLOSE {PEOPLE}")


def _select(table: Table, column: str) -> sql.Composed | None:
    """What the column says of people: as a user id, or as a list of texts."""
    kind = table.columns[column]
    is_list = kind.endswith("[]")
    if not kind.startswith(TEXTS) or not (is_list or column == "user_id"):
        return None
    what = sql.SQL("unnest({})" if is_list else "{}").format(sql.Identifier(column))
    names = (what, sql.Identifier(table.name), sql.Identifier(table.tenant_column))
    return sql.SQL("SELECT {} FROM {} WHERE {} = %(tenant)s").format(*names)


def _tell_nobody(row: Record) -> None:
    """The receipt of the erasure, which tells of the rows that went, was written the first time."""


def _erase(subject: Subject) -> int:
    erased = 0
    for handler in handlers().values():
        if isinstance(handler, Rows):
            while batch := handler.erase(subject, _tell_nobody):
                erased += batch
    return erased
