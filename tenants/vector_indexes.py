"""The approximate index of one model's vectors, made by the operator while everything runs."""

import hashlib
import re
from dataclasses import dataclass

from django.db import DatabaseError, connections
from django.db.backends.utils import CursorWrapper

from tenants.errors import Conflict, Invalid
from tenants.vectors import Vectors

MOST_DIMENSIONS = 4_000  # of a half-precision vector in such an index
LONGEST = 63  # bytes of a name
PLAIN = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # models whose name can be told from that of their index
# By what an index is of: the first ones, which migrations made, have other names.
OF_MODEL = """
SELECT c.relname, i.indisvalid, EXISTS (
    SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = i.indexrelid
)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am a ON a.oid = c.relam
WHERE i.indrelid = %(table)s::regclass AND a.amname = 'hnsw'
  AND pg_get_expr(i.indexprs, i.indrelid) LIKE %(expression)s
  AND pg_get_expr(i.indpred, i.indrelid) = %(predicate)s
ORDER BY i.indisvalid DESC, c.relname
"""
CREATE = (
    'CREATE INDEX CONCURRENTLY "{name}" ON "{table}"'
    " USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)"
    " WITH (m = 24, ef_construction = 128) WHERE model = {model}"
)


@dataclass(frozen=True, slots=True)
class _Index:
    name: str
    is_valid: bool
    is_being_made: bool


def create_index(kind: Vectors, *, model: str, dimensions: int) -> str:
    """Makes the approximate index of a model's vectors, as the owner, while others write; its name. One that
    is there is left alone; what a cancelled run has left, which serves no search, is made anew.

    Raises Invalid for vectors too long for such an index, Conflict when it was not made.
    """
    if dimensions > MOST_DIMENSIONS:
        raise Invalid(
            f"{model} has vectors of {dimensions:,} dimensions: an approximate index takes"
            f" {MOST_DIMENSIONS:,} at most. They are all compared without one.",
            "to",
        )
    try:
        with connections["owner"].cursor() as cursor:
            return _made(cursor, kind, model, int(dimensions))
    except DatabaseError as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise Conflict(f"The index of {kind.name} was not made: {reason}. Run it again.") from error


def _made(cursor: CursorWrapper, kind: Vectors, model: str, dimensions: int) -> str:
    table = kind.vectors._meta.db_table
    for one in _indexes(cursor, table, model, dimensions):
        if one.is_valid:
            return one.name
        if one.is_being_made:
            raise Conflict(f"Somebody else is making {one.name} at this moment.")
        cursor.execute("SELECT quote_ident(%s)", [one.name])
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {cursor.fetchone()[0]}")
    name = _free_name(cursor, kind, model)
    cursor.execute("SELECT quote_literal(%s)", [model])
    quoted = cursor.fetchone()[0]
    cursor.execute(CREATE.format(name=name, table=table, dimensions=dimensions, model=quoted))
    return name


def _indexes(cursor: CursorWrapper, table: str, model: str, dimensions: int) -> list[_Index]:
    """Those of the model's vectors, as PostgreSQL writes them; valid ones first."""
    literal = model.replace("'", "''")
    asked = {
        "table": table,
        "expression": f"%halfvec({dimensions})",
        "predicate": f"((model)::text = '{literal}'::text)",
    }
    cursor.execute(OF_MODEL, asked)
    return [_Index(*row) for row in cursor.fetchall()]


def _free_name(cursor: CursorWrapper, kind: Vectors, model: str) -> str:
    """Tells the model, with a digest of it where the name alone would not: another may have the same."""
    name = f"{kind.name}_nearest_{re.sub('[^a-z0-9]', '_', model.lower())}"
    if PLAIN.fullmatch(model) and len(name) <= LONGEST:
        cursor.execute("SELECT to_regclass(%s) IS NULL", [name])
        if cursor.fetchone()[0]:
            return name
    digest = hashlib.sha256(model.encode()).hexdigest()[:8]
    return f"{name[: LONGEST - len(digest) - 1]}_{digest}"
