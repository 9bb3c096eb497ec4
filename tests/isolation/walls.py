"""The check that every tenant table must pass: what the app role reaches in one tenant's scope by raw SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg import sql

from tests.isolation.tables import FACTORIES, TABLES, column_values, store, tenant_column

Connection = psycopg.Connection
COMMANDS = ("SELECT", "INSERT", "UPDATE", "DELETE")


@dataclass(frozen=True)
class Rows:
    """A table in which acme and globex have a row each, and the row that globex will try to foist on acme."""

    table: str
    acme: UUID
    globex: UUID
    foisted: dict[str, object]


def make_rows(table: str, acme: UUID, globex: UUID) -> Rows:
    """Stores a row per tenant."""
    make = FACTORIES[TABLES[table]]
    if table != "tenants_tenant":  # the two tenants are the rows of their own table
        store(make(acme))
        store(make(globex))
    return Rows(table, acme, globex, column_values(make(acme)))


def assert_isolated(connection: Connection, rows: Rows) -> None:
    """Fails when globex's scope reaches a row of acme in any way."""
    found = leaks(connection, rows)
    assert not found, f"{rows.table}: globex reaches acme by {', '.join(sorted(found))}"


def leaks(connection: Connection, rows: Rows) -> set[str]:
    """The commands that cross from globex to acme, in the open transaction of the app role. Changes nothing.

    A command that the role has no grant for must be refused for that reason.
    """
    attempts = {"SELECT": _select, "UPDATE": _update, "DELETE": _delete, "INSERT": _insert}
    found = set()
    with _scope_of(connection, rows.globex):
        granted = grants(connection, rows.table)
        for command, attempt in attempts.items():
            if attempt(connection, rows, command in granted):
                found.add(command)
    return found


def grants(connection: Connection, table: str) -> set[str]:
    """What the current role may do with the table."""
    statement = "SELECT has_table_privilege(%s, %s)"
    return {name for name in COMMANDS if connection.execute(statement, [f'"{table}"', name]).fetchone()[0]}


def _select(connection: Connection, rows: Rows, granted: bool) -> bool:
    statement = sql.SQL("SELECT DISTINCT {tenant} FROM {table}")
    return _crosses(connection, rows, statement, granted)


def _update(connection: Connection, rows: Rows, granted: bool) -> bool:
    touched = _crosses(
        connection, rows, sql.SQL("UPDATE {table} SET {tenant} = {tenant} RETURNING {tenant}"), granted
    )
    # Without a WHERE: one that reads a column would have the new row checked against USING as well.
    move = sql.SQL("UPDATE {} SET {} = {}").format(
        sql.Identifier(rows.table), sql.Identifier(tenant_column(rows.table)), rows.acme
    )
    return touched or (granted and not _is_walled(connection, move))


def _delete(connection: Connection, rows: Rows, granted: bool) -> bool:
    return _crosses(connection, rows, sql.SQL("DELETE FROM {table} RETURNING {tenant}"), granted)


def _insert(connection: Connection, rows: Rows, granted: bool) -> bool:
    columns, values = zip(*rows.foisted.items(), strict=True)
    statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        sql.Identifier(rows.table),
        sql.SQL(", ").join(map(sql.Identifier, columns)),
        sql.SQL(", ").join(sql.Placeholder() * len(columns)),
    )
    return not _is_walled(connection, statement, values, granted=granted)


def _crosses(connection: Connection, rows: Rows, statement: sql.SQL, granted: bool) -> bool:
    """Whether a statement without any filter meets a row of acme. It must meet globex's own, else it proves
    nothing."""
    composed = statement.format(
        table=sql.Identifier(rows.table), tenant=sql.Identifier(tenant_column(rows.table))
    )
    if not granted:
        assert _is_walled(connection, composed, granted=False)
        return False
    try:
        with _undone(connection):
            met = {tenant for (tenant,) in connection.execute(composed).fetchall()}
    except psycopg.errors.InsufficientPrivilege as error:
        _must_say(error, "row-level security policy")
        return True  # it met a foreign row, and only writing it back was refused
    assert rows.globex in met, f"{rows.table}: the check met no row of globex's own"
    return rows.acme in met


def _is_walled(
    connection: Connection, statement: sql.Composable, values: tuple = (), *, granted: bool = True
) -> bool:
    """Whether the statement is refused, by the policy if the role has the grant, for the lack of it if not.

    A refusal by a key or constraint is none: other values would get past it.
    """
    reason = "row-level security policy" if granted else "permission denied for table"
    try:
        with _undone(connection):
            connection.execute(statement, values or None)
    except psycopg.errors.InsufficientPrivilege as error:
        _must_say(error, reason)
        return True
    except psycopg.IntegrityError:
        return False
    return False


def _must_say(error: psycopg.Error, reason: str) -> None:
    assert reason in str(error), f"refused, but for another reason: {error}"


@contextmanager
def _scope_of(connection: Connection, tenant_id: UUID) -> Iterator[None]:
    with _undone(connection):
        connection.execute(f"SET LOCAL app.tenant_id = '{tenant_id}'")
        yield


@contextmanager
def _undone(connection: Connection) -> Iterator[None]:
    """A savepoint that is always rolled back."""
    with connection.transaction(force_rollback=True):
        yield
