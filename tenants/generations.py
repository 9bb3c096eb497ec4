"""Which embedding model's vectors a tenant is searched by: asked on every path, from this process's memory.

During a change of the model a tenant has two generations of vectors. Both are kept complete until the change
is ended, so that its switch from one to the other, and back, is one row.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import transaction

from providers.embeddings import get_embedder
from tenants.models import TenantEmbedding
from tenants.router import admin_role
from tenants.scope import scope

TENANTS_KEPT = 10_000

_reading_by: ContextVar[str] = ContextVar("reading_by", default="")


@dataclass(frozen=True, slots=True)
class Generations:
    """`model` is searched by; `other` is kept beside it during a change, else empty."""

    model: str
    other: str = ""
    is_switched: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """Those whose vectors are kept complete."""
        return (self.model, self.other) if self.other else (self.model,)


@dataclass(frozen=True, slots=True)
class _Known:
    generations: Generations | None  # None: the deployment's
    fresh_until: float


_known: dict[UUID, _Known] = {}


def model_of(tenant_id: UUID) -> str:
    """The model whose vectors the tenant is searched by, or that `reading_by` names.

    A change takes effect within `API_KEY_CACHE_SECONDS`. With PostgreSQL away, what cannot be asked is not
    guessed: whoever needs a tenant's vectors needs PostgreSQL next, and would only wait for it twice.
    """
    return _reading_by.get() or generations_of(tenant_id).model


def generations_of(tenant_id: UUID) -> Generations:
    """The tenant's generations, likewise."""
    known = _known.get(tenant_id)
    if known is None or known.fresh_until <= time.monotonic():
        known = _refreshed(tenant_id)
    return known.generations or Generations(get_embedder().model)


@contextmanager
def reading_by(model: str) -> Iterator[None]:
    """In the block, texts are embedded and searches go by `model`, whatever the tenant's is."""
    token = _reading_by.set(model)
    try:
        yield
    finally:
        _reading_by.reset(token)


def read_generations(tenant_id: UUID) -> Generations:
    """What the database says at this moment."""
    return _read(tenant_id) or Generations(get_embedder().model)


def locked_row(tenant_id: UUID) -> TenantEmbedding | None:
    """The tenant's row, which changes no more until the open scope ends; None when it never changed its
    model."""
    return TenantEmbedding.objects.select_for_update().filter(tenant_id=tenant_id).first()


def of_row(row: TenantEmbedding | None) -> Generations:
    """What a row says."""
    if row is None:
        return Generations(get_embedder().model)
    return Generations(row.model, row.other, row.is_switched)


def forget_at_commit(tenant_id: UUID) -> None:
    """Whoever changes a tenant's generations in the open scope sees the change at once."""
    transaction.on_commit(lambda: _known.pop(tenant_id, None))


def changing_tenants() -> list[UUID]:
    """The tenants with a change under way. A named cross-tenant job."""
    with admin_role():
        found = TenantEmbedding.objects.exclude(other="").order_by("changed_at")
        return list(found.values_list("tenant_id", flat=True))


def sum_missing() -> dict[str, int]:
    """How many vectors each model lacked of all tenants with a change under way, as the workers last looked.
    A named cross-tenant job."""
    lacked: dict[str, int] = {}
    with admin_role():
        for missing in TenantEmbedding.objects.exclude(other="").values_list("missing", flat=True):
            for model, count in missing.items():
                lacked[model] = lacked.get(model, 0) + count
    return lacked


def _refreshed(tenant_id: UUID) -> _Known:
    started = time.monotonic()  # from before the answer, not after it
    fresh = _Known(_read(tenant_id), started + settings.API_KEY_CACHE_SECONDS)
    _known.pop(tenant_id, None)
    while len(_known) >= TENANTS_KEPT:
        _known.pop(next(iter(_known), tenant_id), None)  # whoever was read longest ago
    _known[tenant_id] = fresh
    return fresh


def _read(tenant_id: UUID) -> Generations | None:
    with scope(tenant_id):
        row = TenantEmbedding.objects.filter(tenant_id=tenant_id).first()
    return None if row is None else of_row(row)
