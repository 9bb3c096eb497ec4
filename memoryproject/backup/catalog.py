"""Which tables are a tenant's, by what the database itself says: a new one cannot be forgotten."""

from dataclasses import asdict, dataclass
from graphlib import TopologicalSorter
from typing import Any

from django.db.backends.utils import CursorWrapper

TENANTS = "tenants_tenant"

# Columns that PostgreSQL makes of others are made again, and so are ids of transactions, which are those of
# one server: in another, they may lie in a future that is far away.
TABLES = """
SELECT c.relname,
       json_agg(json_build_array(a.attname, format_type(a.atttypid, a.atttypmod)) ORDER BY a.attname)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
                   AND a.atttypid <> 'xid8'::regtype
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
AND (c.relname = 'tenants_tenant' OR EXISTS (
    SELECT FROM pg_attribute k WHERE k.attrelid = c.oid AND k.attname = 'tenant_id' AND NOT k.attisdropped))
GROUP BY c.relname ORDER BY c.relname
"""
REFERENCES = """
SELECT c.relname, t.relname FROM pg_constraint f
JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class t ON t.oid = f.confrelid
WHERE f.contype = 'f' AND c.oid <> t.oid
"""
SEQUENCES = """
SELECT s.relname, t.relname, a.attname FROM pg_depend d
JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
JOIN pg_class t ON t.oid = d.refobjid AND t.relname = ANY(%s)
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE d.deptype IN ('a', 'i')
"""
MIGRATIONS = "SELECT app, max(name) FROM django_migrations GROUP BY app ORDER BY app"


@dataclass(frozen=True, slots=True)
class Table:
    """A tenant's table: its columns and their types, by name, without those that are made of others."""

    name: str
    columns: dict[str, str]

    @property
    def tenant_column(self) -> str:
        return "id" if self.name == TENANTS else "tenant_id"

    def document(self) -> dict[str, Any]:
        return asdict(self)


def read_tables(cursor: CursorWrapper) -> list[Table]:
    """Every table of a tenant, those that others point to before them."""
    cursor.execute(TABLES)
    tables = {name: Table(name, dict(columns)) for name, columns in cursor.fetchall()}
    sorter: TopologicalSorter[str] = TopologicalSorter({name: set() for name in tables})
    cursor.execute(REFERENCES)
    for name, target in cursor.fetchall():
        if name in tables and target in tables:
            sorter.add(name, target)
    return [tables[name] for name in sorter.static_order()]


def read_migrations(cursor: CursorWrapper) -> dict[str, str]:
    """The last migration of each app."""
    cursor.execute(MIGRATIONS)
    return dict(cursor.fetchall())


def read_sequences(cursor: CursorWrapper, tables: list[Table]) -> list[tuple[str, str, str]]:
    """Sequences of these tables, each with the table and column that it numbers."""
    cursor.execute(SEQUENCES, [[one.name for one in tables]])
    return list(cursor.fetchall())
