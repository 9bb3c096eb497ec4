"""Tables of a PostgreSQL elsewhere, read once through, as of one moment."""

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from memoryproject.importing.errors import ImportFailed, SourceMalformed, SourceUnknown, SourceUnreachable

SCHEMES = ("postgres://", "postgresql://")
PAGE = 500  # rows that are fetched at once
SECONDS = 60  # that a statement there may take
COLUMNS = """
SELECT table_schema, table_name, array_agg(column_name::text) AS columns FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema') GROUP BY 1, 2 ORDER BY 1, 2
"""


class PostgresTable:
    """The table that has these columns, or the one that is named. It is only read."""

    unit = " rows"

    def __init__(self, url: str, *, columns: frozenset[str], table: str = "") -> None:
        self._url = url
        self.name, self.columns = self._found(columns, table)
        self.total = self._count()

    def rows(self, wanted: tuple[str, ...], order: str) -> Iterator[dict[str, Any]]:
        """Each row with those of the columns that there are. Raises SourceUnreachable."""
        names = sql.SQL(", ").join(sql.Identifier(one) for one in wanted if one in self.columns)
        query = sql.SQL("SELECT {} FROM {} ORDER BY {}").format(
            names, sql.Identifier(*self.name), sql.SQL(order)
        )
        try:
            with self._connected() as connection, connection.cursor("import", row_factory=dict_row) as cursor:
                cursor.itersize = PAGE
                cursor.execute(query)
                yield from cursor
        except psycopg.Error as error:
            raise _told(error) from error

    def _found(self, columns: frozenset[str], table: str) -> tuple[tuple[str, str], frozenset[str]]:
        try:
            with self._connected() as connection:
                tables = connection.execute(COLUMNS).fetchall()
        except psycopg.Error as error:
            raise _told(error) from error
        known = {(schema, name): frozenset(found) for schema, name, found in tables}
        fitting = {one: found for one, found in known.items() if columns <= found}
        named = {one: found for one, found in fitting.items() if table in (one[1], ".".join(one))}
        fitting = named if table else _without_companions(fitting)
        if not fitting:
            wanted = ", ".join(sorted(columns))
            raise SourceUnknown(f"This database has no table {table!r} with the columns {wanted}.")
        if len(fitting) > 1:
            raise SourceUnknown(
                "This database has several such tables; name one with --table: "
                + ", ".join(".".join(one) for one in fitting)
            )
        return next(iter(fitting.items()))

    def _count(self) -> int | None:
        """How many rows; None: to count them takes longer than a statement may. Reading does not need it."""
        query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*self.name))
        try:
            with self._connected() as connection:
                row = connection.execute(query).fetchone()
        except psycopg.errors.QueryCanceled:
            return None
        except psycopg.Error as error:
            raise _told(error) from error
        return int(row[0]) if row else 0

    def _connected(self) -> "psycopg.Connection[Any]":
        """In one transaction that cannot write. Raises ImportFailed, without a word of the address."""
        try:
            connection = psycopg.connect(
                self._url,
                connect_timeout=10,
                tcp_user_timeout=SECONDS * 1000,
                application_name="strata import",
            )
        except psycopg.OperationalError as error:
            raise _told(error) from error
        except (psycopg.Error, ValueError):
            raise SourceUnknown("This is no address like postgresql://user@host:5432/database.") from None
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute(sql.SQL("SET statement_timeout = {}").format(SECONDS * 1000))
        return connection


def _without_companions(
    tables: dict[tuple[str, str], frozenset[str]],
) -> dict[tuple[str, str], frozenset[str]]:
    """Without the tables in which a collection keeps its entities, or that it was moved from."""
    names = {name for _schema, name in tables}
    return {
        one: found
        for one, found in tables.items()
        if one[1] != "mem0migrations" and one[1].removesuffix("_entities") not in names - {one[1]}
    }


def _told(error: psycopg.Error) -> ImportFailed:
    """The first line of what PostgreSQL says; the address is in none of them but for host, port and user."""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, psycopg.OperationalError):
        return SourceUnreachable(f"The source's database cannot be reached, or no longer: {said}")
    return SourceMalformed(f"The source's database refuses: {said}")
