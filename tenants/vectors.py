"""Generations of vectors: what of a model's is there, and what is missing.

An item keeps the vector of each model that has read it. A search compares those of one model alone.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, Model, Q
from numpy.typing import NDArray

from tenants.router import admin_role
from tenants.scope import scope

BATCH = 5_000  # rows in one transaction
WINDOW = 5_000  # items that are looked at together


@dataclass(frozen=True, slots=True)
class Vectors:
    """A table of items with `embed_pending`, and the one of their vectors. `text` is what of an item is
    embedded, `row` its unsaved vector. `searched` by an approximate index always, or only where an operator
    has made one."""

    name: str
    items: type[Model]
    vectors: type[Model]
    item: str  # the column of the vectors that names the item
    meant: Q  # the items that have vectors at all
    text: Callable[[Any], str]
    row: Callable[[Any, NDArray[np.float32]], Model]
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


def unread_after(
    kind: Vectors, *, tenant_id: UUID, model: str, after: Any = None, before: datetime | None = None
) -> tuple[list[Any], Any]:
    """The ids of the items that have no vector by `model`, among the next `WINDOW` after that one, and where
    to go on; None at the end. `before`: of those made before that moment. In the open scope.

    Window by window, since PostgreSQL may join the two tables, when it has not analysed them yet, in a time
    that grows with the square of the tenant.
    """
    items = kind.items._default_manager.filter(kind.meant, tenant_id=tenant_id)
    later = items if after is None else items.filter(id__gt=after)
    made = later if before is None else later.filter(created_at__lt=before)
    ids = list(made.order_by("id").values_list("id", flat=True)[:WINDOW])
    read = _read_among(kind, tenant_id, model, ids)
    return [one for one in ids if one not in read], ids[-1] if len(ids) == WINDOW else None


def count_unread(
    kind: Vectors,
    *,
    tenant_id: UUID,
    model: str,
    but: Collection[str] = (),
    before: datetime | None = None,
    read_by: str = "",
) -> int:
    """How many of the tenant's items, `but` these ids, have no vector by `model`; of those made `before`, and
    of those that `read_by` has read."""
    left_out, count, after = set(but), 0, None
    while True:
        with scope(tenant_id):
            unread, after = unread_after(kind, tenant_id=tenant_id, model=model, after=after, before=before)
            if read_by:
                there = _read_among(kind, tenant_id, read_by, unread)
                unread = [one for one in unread if one in there]
        count += sum(str(one) not in left_out for one in unread)
        if after is None:
            return count


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


def _read_among(kind: Vectors, tenant_id: UUID, model: str, ids: Sequence[Any]) -> set[Any]:
    """What from the first to the last of the ascending ids has a vector by `model`: one stretch of an index,
    in a tenth of the time of looking each of them up."""
    if not ids:
        return set()
    stretch = {f"{kind.item}__gte": ids[0], f"{kind.item}__lte": ids[-1]}
    found = kind.vectors._default_manager.filter(tenant_id=tenant_id, model=model, **stretch)
    return set(found.values_list(kind.item, flat=True))
