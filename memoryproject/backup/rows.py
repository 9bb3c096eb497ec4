"""Rows of tenants, out of the tables by COPY and in again, in PostgreSQL's binary format.

COPY FROM is refused on a table with forced row-level security. What comes in is therefore copied into a table
without it, piece by piece, and inserted from there; both go with the transaction, should it fail.
"""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.db.backends.utils import CursorWrapper
from psycopg import sql

from memoryproject.backup.archive import Reader, Writer
from memoryproject.backup.catalog import Table
from memoryproject.backup.errors import BackupError

PIECE = 64 << 20  # bytes of rows in one member: that much is twice in the database during a restore
HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
TRAILER = b"\xff\xff"
STAGE = sql.Identifier("restore_stage")

Stage = Callable[[CursorWrapper], object]  # changes what has come in before it is inserted


def dump(cursor: CursorWrapper, table: Table, *, tenant_id: UUID | None, archive: Writer) -> dict[str, Any]:
    """Writes the rows of one tenant or of all; what the manifest says of the table."""
    rows, pieces = 0, 0
    with cursor.copy(_select(table, tenant_id)) as copy:
        source = _rows(copy)
        row = next(source, None)
        while row is not None:
            with archive.member(f"tables/{table.name}/{pieces:05}") as member:
                member.write(HEADER)
                while row is not None and member.size < PIECE:
                    member.write(row)
                    rows, row = rows + 1, next(source, None)
                member.write(TRAILER)
            pieces += 1
    return {**table.document(), "rows": rows, "pieces": pieces}


def _select(table: Table, tenant_id: UUID | None) -> sql.Composed:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    query = sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(table.name))
    if tenant_id is not None:
        query += sql.SQL(" WHERE {} = {}").format(sql.Identifier(table.tenant_column), sql.Literal(tenant_id))
    return sql.SQL("COPY ({}) TO STDOUT (FORMAT binary)").format(query)


def _rows(copy: Any) -> Iterator[bytes]:
    """One row at a time, as PostgreSQL sends them, without the frame around them."""
    for number, message in enumerate(copy):
        data = bytes(message)
        if number == 0:
            if not data.startswith(HEADER):
                raise BackupError("PostgreSQL copies in a form that is not known here.")
            data = data.removeprefix(HEADER)
        if data and data != TRAILER:
            yield data


def load(
    cursor: CursorWrapper,
    table: Table,
    *,
    tenant_ids: list[UUID],
    archive: Reader,
    advance: Callable[[int], object],
    change: Stage | None = None,
) -> int:
    """Inserts the rows of these tenants in the open transaction; how many. A row that is there stays."""
    name, inserted = sql.Identifier(table.name), 0
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    cursor.execute(
        sql.SQL("CREATE UNLOGGED TABLE {} AS SELECT {} FROM {} WITH NO DATA").format(STAGE, columns, name)
    )
    for piece in range(archive.manifest["tables"][table.name]["pieces"]):
        with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(STAGE, columns)) as copy:
            for block in archive.blocks(f"tables/{table.name}/{piece:05}"):
                copy.write(block)
                advance(len(block))
        if change is not None:
            change(cursor)
        cursor.execute(
            sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} WHERE {} = ANY(%s) ON CONFLICT DO NOTHING").format(
                name, columns, columns, STAGE, sql.Identifier(table.tenant_column)
            ),
            [tenant_ids],
        )
        inserted += cursor.rowcount
        cursor.execute(sql.SQL("TRUNCATE {}").format(STAGE))
    cursor.execute(sql.SQL("DROP TABLE {}").format(STAGE))
    return inserted
