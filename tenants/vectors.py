"""Generations of vectors: what a change of the embedding model leaves to be done.

An item keeps the vector of each model that has read it. A search compares those of the present model alone:
after a change the items are to be read anew, by whatever embeds new ones, and the former vectors may stay.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connections
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet

from tenants.router import admin_role
from tenants.scope import scope

BATCH = 5_000  # rows in one transaction
INDEX = (
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "{name}" ON "{table}"'
    " USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {model}"
)


@dataclass(frozen=True, slots=True)
class Vectors:
    """A table of items with `embed_pending`, and the one of their vectors. `resume`, in the scope that marked
    items as pending, sees to it that they are embedded; None where a sweep finds them. `searched` by an
    approximate index, or only by comparing all."""

    name: str
    items: type[Model]
    vectors: type[Model]
    item: str  # the column of the vectors that names the item
    meant: Q  # the items that have vectors at all
    resume: Callable[[datetime], None] | None = None
    searched: bool = False


_kinds: dict[str, Vectors] = {}


def register(kind: Vectors) -> None:
    """Makes a kind of vectors known to this process. Each app registers its own in `ready()`."""
    _kinds[kind.name] = kind


def kinds() -> Mapping[str, Vectors]:
    """Every kind by its name."""
    return dict(_kinds)


def count_models(kind: Vectors) -> dict[str, int]:
    """How many vectors of all tenants each model has made. A named cross-tenant job."""
    with admin_role():
        found = kind.vectors._default_manager.values("model").annotate(n=Count("id")).order_by("model")
        return {row["model"]: row["n"] for row in found}


def embed_anew(kind: Vectors, *, tenant_id: UUID, model: str, now: datetime) -> Iterator[int]:
    """Marks the tenant's items that `model` has not read as pending, batch by batch: how many at each."""
    after = None
    while True:
        with scope(tenant_id):
            unread = _unread(kind, tenant_id, model).filter(embed_pending=False)
            later = unread if after is None else unread.filter(id__gt=after)
            ids = list(later.order_by("id").values_list("id", flat=True)[:BATCH])
            if not ids:
                return
            kind.items._default_manager.filter(tenant_id=tenant_id, id__in=ids).update(embed_pending=True)
            if kind.resume is not None:
                kind.resume(now)
        after = ids[-1]
        yield len(ids)


def count_unread(kind: Vectors, *, tenant_id: UUID, model: str) -> int:
    """How many of the tenant's items `model` has not read yet."""
    with scope(tenant_id):
        return int(_unread(kind, tenant_id, model).count())


def drop_model(kind: Vectors, *, tenant_id: UUID, model: str) -> Iterator[int]:
    """Deletes the tenant's vectors of `model`, batch by batch: how many at each."""
    while True:
        with scope(tenant_id):
            mine = kind.vectors._default_manager.filter(tenant_id=tenant_id)
            ids = list(mine.filter(model=model).values_list("id", flat=True)[:BATCH])
            deleted = mine.filter(id__in=ids).delete()[0] if ids else 0
        if not deleted:
            return
        yield deleted


def create_index(kind: Vectors, *, model: str, dimensions: int) -> str:
    """Makes the approximate index of a model's vectors, as the owner, while others write; its name."""
    table = kind.vectors._meta.db_table
    name = f"{kind.name}_nearest_{''.join(c if c.isalnum() else '_' for c in model.lower())}"[:63]
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT quote_literal(%s)", [model])
        quoted = cursor.fetchone()[0]
        cursor.execute(INDEX.format(name=name, table=table, dimensions=int(dimensions), model=quoted))
    return name


def _unread(kind: Vectors, tenant_id: UUID, model: str) -> QuerySet[Model]:
    read = kind.vectors._default_manager.filter(
        tenant_id=tenant_id, model=model, **{kind.item: OuterRef("id")}
    )
    return kind.items._default_manager.filter(kind.meant, ~Exists(read), tenant_id=tenant_id)
