"""Bringing tenants back from a backup: all or nothing, and nobody who was erased since."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
from django.db import Error, connections, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone
from psycopg import sql
from redis.exceptions import RedisError

from memoryproject.backup import journal, rows, session_keys
from memoryproject.backup.archive import Advance, Reader, opened
from memoryproject.backup.catalog import TENANTS, Table, read_sequences, read_tables
from memoryproject.backup.choosing import Choice, check_fits, choose
from memoryproject.backup.erasing import Erased
from memoryproject.backup.errors import BackupError
from memoryproject.backup.router import OWNER, owner_role
from memoryproject.backup.users import Users
from tenants import audit
from tenants.errors import Unavailable
from tenants.models import Tenant
from working import redis

# Of a tenant that is here, what is here stays, and the backup adds what is missing: a key that was revoked
# since stays revoked, links do, and the logs of what was done and of who was erased lose nothing.
MERGED = frozenset(
    {TENANTS, "tenants_apikey", "tenants_auditentry", "tenants_linkrevocation", "tenants_tombstone"}
)
# And here the backup adds nothing: who was shut out, or let go on, since then is not for it to say.
KEPT = frozenset({"tenants_invitation", "tenants_member", "tenants_restriction"})
# An erasure that is under way is carried out to its end, over what comes back as well.
UNDER_WAY = {"tenants_job": "NOT (kind = 'subject.erase' AND state <> 'done')"}

LOCK = "SELECT pg_try_advisory_xact_lock(7237970109966541)"
FORWARD = (
    "SELECT setval({sequence}, (SELECT max({column}) FROM {table})) WHERE (SELECT max({column}) FROM {table})"
)
FORWARD += " > (SELECT last_value FROM {relation})"


@dataclass(frozen=True, slots=True)
class Restored:
    """What has come back, of when, and how many people were erased again."""

    made_at: datetime
    tenants: int
    rows: int
    sessions: int
    erased: int
    users: int  # who were not here


def restore_backup(
    *,
    path: Path,
    slug: str | None,
    replace: bool,
    erasures: Path | None,
    other_secret_key: bool,
    actor: str,
    advance: Advance = lambda count: None,
) -> Restored:
    """Brings every tenant of the backup, or that of the slug, into the database, in one transaction.

    Raises BackupError before anything is touched for a file that is not whole, not ours or of other
    migrations, and for a tenant that is here, unless `replace`. A named cross-tenant job of the owner.
    """
    records = journal.read(erasures) if erasures is not None else []
    with opened(path, other_secret_key=other_secret_key) as archive:
        archive.check(advance)
        if not redis.is_up():
            raise BackupError("Redis is away: what only it holds could not come back.")
        job = _Restore(archive, actor, advance)
        try:
            with owner_role(), transaction.atomic(using=OWNER, durable=True):
                choice = job.run(slug=slug, replace=replace, records=records)
        except (Error, psycopg.Error) as error:
            raise BackupError(f"PostgreSQL refused, and everything is as before: {_said(error)}") from error
        try:
            sessions = job.bring_sessions(choice)
        except (RedisError, Unavailable) as error:
            raise BackupError(
                "The rows are back, and Redis is away: restore again with --replace for what only it holds."
            ) from error
        job.analyze()
        made_at = datetime.fromisoformat(archive.manifest["made_at"])
        return Restored(
            made_at, len(choice.ids), job.rows, sessions, sum(job.erased_again.values()), job.users
        )


class _Restore:
    """One run; `run` within the transaction, the rest after it."""

    def __init__(self, archive: Reader, actor: str, advance: Advance) -> None:
        self.archive, self.actor, self.advance = archive, actor, advance
        self.rows = self.users = 0
        self.erased_again: dict[UUID, int] = {}
        self.tables: list[Table] = []
        self.erased: Erased

    def run(self, *, slug: str | None, replace: bool, records: list[dict[str, Any]]) -> Choice:
        with connections[OWNER].cursor() as cursor:
            cursor.execute(LOCK)
            if not cursor.fetchone()[0]:
                raise BackupError("Another restore is under way.")
            self.tables = read_tables(cursor)
            check_fits(self.archive.manifest, cursor, self.tables)
            choice = choose(self.archive.manifest, slug=slug, replace=replace)
            for namesake in choice.namesakes:
                _step_aside(namesake)
            self._clear(cursor, choice.here)
            self._load(cursor, choice)
            journal.merge(cursor, records, tenant_ids=choice.ids)
            made_at = datetime.fromisoformat(self.archive.manifest["made_at"])
            self.erased = Erased(choice.ids, since=made_at)
            self.erased.add_sessions(session_keys.owners(self.archive))
            self.erased_again = self.erased.apply(cursor, self.tables, choice.ids)
            self._continue_numbers(cursor)
            self._record(choice)
        for tenant_id in choice.here:  # once more after the commit: readers make copies of what is there
            session_keys.drop(tenant_id)
        return choice

    def _clear(self, cursor: CursorWrapper, here: list[UUID]) -> None:
        """Deletes the rows of the tenants that are here, those that point to others before them."""
        for table in reversed(self.tables):
            if here and table.name not in MERGED | KEPT:
                condition = sql.SQL(UNDER_WAY.get(table.name, "true"))
                names = (sql.Identifier(table.name), sql.Identifier(table.tenant_column), condition)
                cursor.execute(sql.SQL("DELETE FROM {} WHERE {} = ANY(%s) AND {}").format(*names), [here])

    def _load(self, cursor: CursorWrapper, choice: Choice) -> None:
        fresh = [one for one in choice.ids if one not in choice.here]
        people = Users(self.archive, tenant_ids=fresh, all_back=choice.is_all and not choice.here)
        for table in self.tables:
            self.rows += rows.load(
                cursor,
                table,
                tenant_ids=fresh if table.name in KEPT else choice.ids,
                archive=self.archive,
                advance=self.advance,
                change=people.renumber if table.name == "tenants_member" else None,
            )
        self.users = people.created

    def _continue_numbers(self, cursor: CursorWrapper) -> None:
        """Ids that PostgreSQL hands out go on behind the greatest that is there."""
        for sequence, table, column in read_sequences(cursor, self.tables):
            names = {"column": sql.Identifier(column), "table": sql.Identifier(table)}
            relation = {"sequence": sql.Literal(f'"{sequence}"'), "relation": sql.Identifier(sequence)}
            cursor.execute(sql.SQL(FORWARD).format(**names, **relation))

    def _record(self, choice: Choice) -> None:
        manifest = self.archive.manifest
        for tenant_id, slug in choice.tenants.items():
            audit.record(
                tenant_id=tenant_id,
                actor=self.actor,
                action="tenant.restore",
                target=slug,
                made_at=manifest["made_at"],
                replaced=tenant_id in choice.here,
                erased_again=self.erased_again[tenant_id],
            )

    def bring_sessions(self, choice: Choice) -> int:
        """What only Redis held, but of those who were erased since; how many sessions."""
        for tenant_id in choice.ids:
            session_keys.drop(tenant_id)
        return session_keys.load(
            archive=self.archive,
            wanted=lambda ref: ref.tenant_id in choice.tenants and not self.erased.takes(ref),
        )

    def analyze(self) -> None:
        """Until then the planner knows nothing of so many new rows."""
        with connections[OWNER].cursor() as cursor:
            names = sql.SQL(", ").join(sql.Identifier(table.name) for table in self.tables)
            cursor.execute(sql.SQL("ANALYZE {}").format(names))


def _said(error: Exception) -> str:
    """What PostgreSQL said, without the row that it was about."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    told = cause.diag.message_primary if isinstance(cause, psycopg.Error) else None
    return told or type(error).__name__


def _step_aside(namesake: Tenant) -> None:
    """A tenant that only has the name of one that comes back keeps what it has, renamed and disabled."""
    namesake.slug = f"{namesake.slug[:54]}-{namesake.id.hex[-8:]}"
    namesake.disabled_at = namesake.disabled_at or timezone.now()
    namesake.save(using=OWNER, update_fields=["slug", "disabled_at"])
