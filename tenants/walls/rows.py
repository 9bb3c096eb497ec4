"""A row of any tenant table, made from what the catalog says of it: no table can be forgotten."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, connection

from tenants.catalog import Column, Table
from tenants.scope import undone

NOBODY_HAS_ANY = "only operators add rows here, and no tenant has any"
VALUES: dict[str, Callable[[], Any]] = {
    "uuid": uuid4,
    "bool": lambda: False,
    "jsonb": lambda: "{}",
    "json": lambda: "{}",
    "bytea": lambda: b"x",
    "vector": lambda: "[1,0,0]",
    "tsvector": lambda: "'word':1",
    "varbit": lambda: "1",
    "date": lambda: datetime.now(UTC).date(),
    "inet": lambda: "192.0.2.1",
}
CATEGORIES: dict[str, Callable[[], Any]] = {
    "N": lambda: secrets.randbelow(2**14) + 1,
    "S": lambda: secrets.token_hex(4),
    "D": lambda: datetime.now(UTC),
    "A": lambda: "{}",
}


@dataclass(slots=True)
class Rows:
    """What was added for one tenant, by table: the ids. `why_not` says of the other tables why there is
    none."""

    tenant_id: UUID
    ids: dict[str, Any] = field(default_factory=dict)
    why_not: dict[str, str] = field(default_factory=dict)

    def values(self, table: Table) -> dict[str, Any]:
        """Of a new row. What it refers to is there, or it is nobody's."""
        return {
            one.name: self.tenant_id if one.name == table.tenant_column else self._value(one)
            for one in table.columns
        }

    def _value(self, column: Column) -> Any:
        if column.references in self.ids:
            return self.ids[column.references]
        made = (VALUES.get(column.type) or CATEGORIES.get(column.category, secrets.token_hex))()
        return made[: column.longest] if isinstance(made, str) else made


def add_rows(tables: Sequence[Table], *, tenant_id: UUID) -> Rows:
    """A row in each table that takes some, what others refer to first. In the tenant's own scope, and in a
    transaction that is rolled back: foreign keys that are checked at its end are not."""
    rows = Rows(tenant_id)
    by_name = {one.name: one for one in tables}
    for table in tables:
        _add(table, by_name, rows)
    return rows


def insert(table: Table, values: Mapping[str, Any], *, returning: bool = False) -> Any:
    """Adds the row; its id, if it is wanted."""
    names = ", ".join(f'"{name}"' for name in values)
    places = ", ".join(["%s"] * len(values))
    statement = f'INSERT INTO "{table.name}" ({names}) VALUES ({places})'  # noqa: S608  names of the catalog
    with connection.cursor() as cursor:
        cursor.execute(statement + (" RETURNING id" if returning else ""), list(values.values()))
        return cursor.fetchone()[0] if returning else None


def _add(table: Table, by_name: Mapping[str, Table], rows: Rows) -> None:
    if table.name in rows.ids or table.name in rows.why_not:
        return
    if not table.takes_rows:
        rows.why_not[table.name] = NOBODY_HAS_ANY
        return
    rows.why_not[table.name] = "refers to itself"  # until it is there
    for column in table.columns:
        if column.references in by_name:
            _add(by_name[column.references], by_name, rows)
    try:
        with undone(unless_it_succeeds=True):
            rows.ids[table.name] = insert(table, rows.values(table), returning=True)
            del rows.why_not[table.name]
    except DatabaseError as error:
        rows.why_not[table.name] = f"no decoy could be made: {type(error.__cause__).__name__}"
