"""The door to PostgreSQL: what the app role reaches in other tenants' rows by any statement.

A refusal by a key or constraint counts as none: with other values the attempt would have got past it.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, OperationalError, connection, connections, transaction
from psycopg.errors import InsufficientPrivilege

from tenants import catalog
from tenants.catalog import DefinerFunction, Table
from tenants.isolation import roles
from tenants.router import admin_role
from tenants.scope import ForeignTenantScope, NoTenantScope, scope, undone, unscoped
from tenants.walls.attempts import Attempt, Outcome
from tenants.walls.registry import Door
from tenants.walls.rows import Rows, add_rows, insert
from tenants.walls.stage import Planted, Stage
from tenants.walls.standing import standing_invitation

READ, UPDATE, DELETE, INSERT = "read", "change", "delete", "add"
UNSCOPED, UNGUARDED = "read unscoped", "read unguarded"
OF_TABLES = (READ, UPDATE, DELETE, INSERT, UNSCOPED, UNGUARDED)
TABLES, AROUND = "Tables", "Around the tables"
PLANTED, OWN, OTHER = "a decoy's row", "ours, as a made-up tenant", "another tenant's row"
NO_ROW, ANY = "no row", "any row"  # a statement that no grant allows is refused whatever is there
Row = tuple[UUID, Any]


def table_door() -> Door:
    """Every tenant table, by every statement that the app role has."""
    about = (
        "A decoy's row stands in every table that the application may write. In the others, a tenant that is "
        "made up reaches for ours."
    )
    return Door(TABLES, about, _tables, columns=OF_TABLES, around=standing_invitation)


def around_door() -> Door:
    """What would take the walls away, and the functions that see past them."""
    about = "Becoming another role, taking a wall down, asking a function that sees all tenants' rows."
    return Door(AROUND, about, _around)


def _tables(stage: Stage) -> Iterator[Attempt]:
    tables = catalog.tenant_tables()
    with stage.acting_as(stage.decoy):
        decoy = add_rows(tables, tenant_id=stage.decoy.tenant_id)
    standing = _standing([one for one in tables if one.name not in decoy.ids], stage.ours.tenant_id)
    for table in tables:
        if table.name in decoy.ids:
            yield from _planted(stage, table, decoy)
        else:
            yield from _standing_there(stage, table, standing[table.name], decoy.why_not[table.name])


def _planted(stage: Stage, table: Table, decoy: Rows) -> Iterator[Attempt]:
    row = (stage.decoy.tenant_id, decoy.ids[table.name])
    with stage.acting_as(stage.decoy):
        bait = PLANTED if _sees(table, row) else ""
        foisted = decoy.values(table)
    with stage.acting_as(stage.ours):
        yield from _reached(table, row, bait)
        yield _tried(table, INSERT, partial(_inserts, table, foisted), PLANTED)
    with stage.acting_as(None):
        yield from _without_scope(table, row, bait)


def _standing_there(
    stage: Stage, table: Table, met: tuple[Row | None, Row | None], why: str
) -> Iterator[Attempt]:
    """At a table that no decoy could get into."""
    own, other = met
    values = Rows(stage.decoy.tenant_id).values(table)
    if own is not None:
        nobody = Rows(uuid4())
        with _acting_as_nobody(stage, nobody.tenant_id):
            yield from _reached(table, own, OWN)
    with stage.acting_as(stage.ours):
        if own is None and other is not None:
            yield from _reached(table, other, OTHER)
        elif own is None:
            yield from (_without_row(one, why) for one in _reached(table, (uuid4(), None), ""))
        yield _tried(table, INSERT, partial(_inserts, table, values), PLANTED)
    with stage.acting_as(None):
        bait = OWN if own else OTHER if other else ""
        for one in _without_scope(table, own or other, bait):
            yield _without_row(one, why)


def _without_row(tried: Attempt, why: str) -> Attempt:
    """With nothing there to take, an attempt proves something only if no grant allows it. `why` there is
    nothing."""
    if tried.by == "grant":
        return replace(tried, bait=tried.bait or ANY)
    return replace(tried, by=why) if tried.by == NO_ROW else tried


def _acting_as_nobody(stage: Stage, tenant_id: UUID) -> Any:
    if stage.act_as is None:
        raise NoTenantScope("The rehearsal has not begun.")
    return stage.act_as(tenant_id)


def _standing(tables: list[Table], own: UUID) -> dict[str, tuple[Row | None, Row | None]]:
    """A row of ours and one of another tenant, by table. As the admin role, which alone knows that there are
    others."""
    found = {}
    with admin_role(), transaction.atomic(using="admin"), connections["admin"].cursor() as cursor:
        for table in tables:
            column, name = table.tenant_column, table.name
            met: list[Row] = []
            for where in (f"WHERE {column} = %s", f"WHERE {column} < %s", f"WHERE {column} > %s"):
                cursor.execute(f'SELECT {column}, id FROM "{name}" {where} LIMIT 1', [own])  # noqa: S608
                met += cursor.fetchall()
            mine = next((row for row in met if row[0] == own), None)
            found[name] = (mine, next((row for row in met if row[0] != own), None))
    return found


def _reached(table: Table, row: Row, bait: str) -> Iterator[Attempt]:
    """Reading, changing and deleting a row that is not of the tenant that is acted as."""
    name, column = table.name, table.tenant_column
    statements = {
        READ: f'SELECT 1 FROM "{name}"',  # noqa: S608  names of the catalog
        UPDATE: f'UPDATE "{name}" SET {column} = {column}',  # noqa: S608
        DELETE: f'DELETE FROM "{name}"',  # noqa: S608
    }
    for how, statement in statements.items():
        yield _tried(table, how, partial(_meets, f"{statement} WHERE {column} = %s AND id = %s", row), bait)


def _without_scope(table: Table, row: Row | None, bait: str) -> Iterator[Attempt]:
    """Reading when no tenant is named: the guard refuses the statement, and the policies, where the guard is
    told to look away, show nothing."""
    row = row or (uuid4(), None)
    yield _tried(table, UNSCOPED, partial(_sees, table, row), bait)
    yield _tried(table, UNGUARDED, partial(_sees_unguarded, table, row), bait)


def _tried(table: Table, how: str, attempt: Callable[[], bool], bait: str) -> Attempt:
    return judged(TABLES, table.name, how, attempt, bait=bait)


def judged(
    door: str, target: str, how: str, attempt: Callable[[], bool], *, bait: str, by: str = "policy"
) -> Attempt:
    """The attempt, undone; it answers whether it crossed. `by` is what kept it if nothing refused it."""
    try:
        with undone():
            crossed = attempt()
    except NoTenantScope:
        return Attempt(door, target, how, "refused", "guard", bait)
    except DatabaseError as error:
        return Attempt(door, target, how, *_failed(error, how), bait)
    if crossed:
        return Attempt(door, target, how, "leaked", "", bait)
    return Attempt(door, target, how, "refused" if bait else "unproved", by if bait else NO_ROW, bait)


def _failed(error: DatabaseError, how: str) -> tuple[Outcome, str]:
    """What the error says, and what refused."""
    if isinstance(error, OperationalError):  # such as a lock that was held too long
        return "unproved", type(error.__cause__ or error).__name__
    is_policy = "row-level security policy" in str(error)
    if not isinstance(error.__cause__, InsufficientPrivilege):
        return "leaked", "no wall: a constraint was in the way"
    if is_policy and how in (UPDATE, DELETE):
        return "leaked", "it met the row: only writing it was refused"
    return "refused", "policy" if is_policy else "grant"


def _sees(table: Table, row: Row) -> bool:
    column = table.tenant_column
    return _meets(f'SELECT 1 FROM "{table.name}" WHERE {column} = %s AND id = %s', row)  # noqa: S608


def _meets(statement: str, row: Row) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, row)
        return bool(cursor.rowcount)


def _inserts(table: Table, values: dict[str, Any]) -> bool:
    insert(table, values)
    return True


def _sees_unguarded(table: Table, row: Row) -> bool:
    with unscoped():
        return _sees(table, row)


def _around(stage: Stage) -> Iterator[Attempt]:
    with stage.acting_as(stage.ours):
        yield _another_scope(stage.decoy)
        yield from _past_policies()
        for function in catalog.definer_functions():
            yield _through(function)


def _another_scope(decoy: Planted) -> Attempt:
    how = "name another tenant in an open scope"
    try:
        with scope(decoy.tenant_id):
            return Attempt(AROUND, "scope", how, "leaked", bait="the decoy")
    except ForeignTenantScope:
        return Attempt(AROUND, "scope", how, "refused", "guard", "the decoy")


def _past_policies() -> Iterator[Attempt]:
    """What would take the walls away."""
    names, first = roles(), catalog.tenant_tables()[0].name
    tries = {
        f"become {role}": f'SET LOCAL ROLE "{role}"' for role in (names.owner, names.admin, names.definer)
    }
    tries["drop a wall"] = f'ALTER TABLE "{first}" DISABLE ROW LEVEL SECURITY'
    tries["read with row security off"] = f'SET LOCAL row_security = off; SELECT 1 FROM "{first}"'  # noqa: S608
    for how, statement in tries.items():
        yield judged(AROUND, "role", how, partial(_does, statement), bait="the walls")


def _does(statement: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return True


def _through(function: DefinerFunction) -> Attempt:
    """A function that sees all tenants' rows must ask which tenant is open. The few that are asked before one
    is known answer an exact name only."""
    how, target, bait = "ask it for another tenant's rows", f"{function.name}()", "all rows"
    if function.asks_tenant:
        return Attempt(AROUND, target, how, "refused", "definition", bait)
    nobody = ", ".join(f"{_NOBODY.get(one, 'NULL')}::{one}" for one in function.arguments)
    statement = f"SELECT answer.* FROM {function.name}({nobody}) AS answer"  # noqa: S608  names of the catalog
    return judged(AROUND, target, how, partial(_answers, statement), bait=bait, by="definition")


def _answers(statement: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
    return row is not None and any(value is not None for value in row)


_NOBODY = {"text": "'%'", "integer": "0"}  # matches all where a name is taken for a pattern
