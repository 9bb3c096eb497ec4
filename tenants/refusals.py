"""Texts that an embedding model does not take: known by their items' ids and by digests of what they said,
for as long as they are there and say it."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils.crypto import salted_hmac

from tenants.generations import locked_row
from tenants.models import TenantEmbedding
from tenants.router import admin_role
from tenants.scope import scope
from tenants.vectors import Vectors, kinds

MOST = 1_000  # of a kind that a model may refuse; from then on the model is wrong, not the texts

Refused = Mapping[str, Mapping[str, str]]  # by kind and item: digests of what a model does not take


def refused_by(row: TenantEmbedding | None, model: str) -> Refused:
    """What `model` does not take."""
    return {} if row is None else row.refused.get(model, {})


def refused_ids(tenant_id: UUID, *, model: str, kind: Vectors) -> list[str]:
    """The ids of those items, unless they say something else by now."""
    with scope(tenant_id):
        row = TenantEmbedding.objects.filter(tenant_id=tenant_id).first()
        return still_refused(kind, refused_by(row, model).get(kind.name, {}))


def still_refused(kind: Vectors, digests: Mapping[str, str]) -> list[str]:
    """Of these items, those that are there and say the same: the others are to be read again. In the open
    scope."""
    if not digests:
        return []
    found = kind.items._default_manager.filter(id__in=list(digests))
    return [str(one.pk) for one in found if digest_of(kind, one) == digests[str(one.pk)]]


def note_refused(row: TenantEmbedding, *, model: str, kind: Vectors, items: Iterable[Model]) -> None:
    """Keeps that `model` does not take them, in the locked row."""
    by_kind = row.refused.setdefault(model, {}).setdefault(kind.name, {})
    for item in items:
        if len(by_kind) < MOST or str(item.pk) in by_kind:
            by_kind[str(item.pk)] = digest_of(kind, item)
    row.save(update_fields=["refused"])


def forget_refused(tenant_id: UUID) -> int:
    """Forgets those whose items are gone or say something else by now; how many. Opens its own scope."""
    with scope(tenant_id):
        row = locked_row(tenant_id)
        if row is None or not row.refused:
            return 0
        before, kept = row.refused, {one: _still_by_kind(by_kind) for one, by_kind in row.refused.items()}
        row.refused = {model: by_kind for model, by_kind in kept.items() if by_kind}
        if row.refused != before:
            row.save(update_fields=["refused"])
        return _count(before) - _count(row.refused)


def refusing_tenants() -> list[UUID]:
    """The tenants of which a model does not take something. A named cross-tenant job."""
    with admin_role():
        found = TenantEmbedding.objects.exclude(refused={}).order_by("changed_at")
        return list(found.values_list("tenant_id", flat=True))


def digest_of(kind: Vectors, item: Any) -> str:
    """Tells nothing of the text to whoever reads the table."""
    return salted_hmac("strata refused text", kind.text(item)).hexdigest()[:16]


def _still_by_kind(by_kind: Refused) -> dict[str, dict[str, str]]:
    known = kinds()
    kept = {
        name: {one: digests[one] for one in still_refused(known[name], digests)}
        for name, digests in by_kind.items()
        if name in known
    }
    return {name: digests for name, digests in kept.items() if digests}


def _count(refused: Mapping[str, Refused]) -> int:
    return sum(len(digests) for by_kind in refused.values() for digests in by_kind.values())
