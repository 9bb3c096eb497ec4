"""What PostgreSQL's catalog says of tenant tables and of functions that see past the walls."""

from dataclasses import dataclass

from django.db import connection

from tenants.scope import unscoped

TABLES = """
SELECT c.relname::text, bool_or(a.attname = 'tenant_id'), has_table_privilege(c.oid, 'INSERT')
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
GROUP BY c.oid, c.relname
HAVING bool_or(a.attname = 'tenant_id') OR c.relname = 'tenants_tenant'
ORDER BY c.relname
"""
# Those that a new row must name.
COLUMNS = """
SELECT c.relname::text, a.attname::text, t.typname::text, t.typcategory::text,
       CASE WHEN t.typname IN ('varchar', 'bpchar') AND a.atttypmod > 4 THEN a.atttypmod - 4 END
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
  AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AND a.attgenerated = ''
ORDER BY c.relname, a.attnum
"""
REFERENCES = """
SELECT f.conrelid::regclass::text, a.attname::text, f.confrelid::regclass::text
FROM pg_constraint f
CROSS JOIN unnest(f.conkey, f.confkey) AS k(mine, theirs)
JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.mine
JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = k.theirs
WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace AND b.attname = 'id'
  AND a.attname <> 'tenant_id'
"""
FUNCTIONS = """
SELECT p.proname::text, array(SELECT format_type(one, NULL) FROM unnest(p.proargtypes) AS one),
       p.prosrc LIKE '%%app.tenant_id%%'
FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef AND has_function_privilege(p.oid, 'EXECUTE')
ORDER BY p.proname
"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a new row must name; `longest` is that of its text, if it is limited, and `references`
    the table whose `id` stands in it."""

    name: str
    type: str
    category: str
    longest: int | None
    references: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with rows of tenants; `takes_rows`: the app role may add some."""

    name: str
    tenant_column: str
    takes_rows: bool
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class DefinerFunction:
    """A function that runs with more rights than the app role, which may call it; `asks_tenant`: its body
    takes the tenant from the open scope."""

    name: str
    arguments: tuple[str, ...]
    asks_tenant: bool


def tenant_tables() -> list[Table]:
    """Every table that has a tenant, by name, whether a model knows it or not."""
    with unscoped(), connection.cursor() as cursor:
        cursor.execute(TABLES)
        tables = cursor.fetchall()
        cursor.execute(REFERENCES)
        references = {(name, column): target for name, column, target in cursor.fetchall()}
        cursor.execute(COLUMNS)
        columns: dict[str, list[Column]] = {}
        for name, column, kind, category, longest in cursor.fetchall():
            target = references.get((name, column), "")
            columns.setdefault(name, []).append(Column(column, kind, category, longest, target))
    return [
        Table(name, "tenant_id" if has_tenant else "id", takes_rows, tuple(columns.get(name, ())))
        for name, has_tenant, takes_rows in tables
    ]


def definer_functions() -> list[DefinerFunction]:
    """Every SECURITY DEFINER function that the app role may call, by name."""
    with unscoped(), connection.cursor() as cursor:
        cursor.execute(FUNCTIONS, [])
        return [DefinerFunction(name, tuple(types), asks) for name, types, asks in cursor.fetchall()]
