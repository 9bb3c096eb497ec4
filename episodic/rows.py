"""Many rows of one kind in a statement, in the open scope."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connections, models, router

from tenants.embedding import vector_literal
from tenants.json_columns import json_text

TOGETHER = 500  # rows of a statement
# One value, however many rows: as many placeholders as there are fields take longer than the statement.
INSERT = """
INSERT INTO {table} ({columns}) SELECT {columns} FROM json_populate_recordset(NULL::{table}, %(rows)s::json)
"""
PUT = INSERT + "ON CONFLICT (tenant_id, id) DO UPDATE SET {changes}"
# The ids stand there twice: on a table that was not analysed yet, the planner would read all of it.
CHANGE = """
UPDATE {table} SET {changes} FROM json_populate_recordset(NULL::{table}, %(rows)s::json) AS excluded
WHERE {table}.tenant_id = %(tenant)s AND {table}.id = ANY(%(ids)s::uuid[]) AND {table}.id = excluded.id
"""


def insert_rows(rows: Sequence[models.Model]) -> None:
    """Stores unsaved rows as they are."""
    if rows:
        fields = _fields(rows[0])
        _execute(INSERT.format(**_names(rows[0], fields)), rows, fields)


def put_rows(rows: Sequence[models.Model], *, kept: Collection[str] = ()) -> None:
    """Stores rows in place of those of the same ids; of the columns `kept`, what stands there stays."""
    if rows:
        fields = _fields(rows[0])
        names = _names(rows[0], fields)
        _execute(PUT.format(changes=_changes(names["table"], fields, kept), **names), rows, fields)


def change_rows(rows: Sequence[models.Model], names: Collection[str]) -> None:
    """Has the stored rows of one tenant say in these fields what these say."""
    if rows:
        changed = [field for field in _fields(rows[0]) if field.name in names]
        table = rows[0]._meta.db_table
        fields = [rows[0]._meta.get_field("id"), *changed]
        _execute(CHANGE.format(table=table, changes=_changes(table, changed, ())), rows, fields)


def _fields(row: models.Model) -> "list[models.Field[Any, Any]]":
    return [field for field in row._meta.concrete_fields if not field.generated]


def _names(row: models.Model, fields: Sequence["models.Field[Any, Any]"]) -> dict[str, str]:
    return {
        "table": row._meta.db_table,
        "columns": ", ".join(f'"{field.column}"' for field in fields),
    }


def _changes(table: str, fields: Sequence["models.Field[Any, Any]"], kept: Collection[str]) -> str:
    def change(column: str) -> str:
        stays = f'coalesce({table}."{column}", excluded."{column}")'
        return f'"{column}" = ' + (stays if column in kept else f'excluded."{column}"')

    return ", ".join(change(str(field.column)) for field in fields)


def _execute(statement: str, rows: Sequence[models.Model], fields: Sequence[Any]) -> None:
    with connections[router.db_for_write(type(rows[0]))].cursor() as cursor:
        for some in _together(rows):
            values = [
                {field.column: field.pre_save(row, add=row._state.adding) for field in fields} for row in some
            ]
            params: dict[str, Any] = {"rows": json_text(values, default=_told)}
            params |= {"ids": [row.pk for row in some], "tenant": getattr(some[0], "tenant_id", None)}
            cursor.execute(statement, params)


def _together(rows: Sequence[models.Model]) -> Iterator[Sequence[models.Model]]:
    return (rows[begin : begin + TOGETHER] for begin in range(0, len(rows), TOGETHER))


def _told(value: Any) -> str:
    """As PostgreSQL reads what JSON has not."""
    if isinstance(value, datetime):
        return value.isoformat()
    return vector_literal(value) if isinstance(value, np.ndarray) else str(value)
