"""The vectors of what stands in slots, by their `key: value`: stored at once when the model answers, by the
sweeper when it does not, and for what was extracted. History has none: it is not searched."""

import logging
from collections.abc import Sequence
from uuid import UUID

import numpy as np
from django.db.models import Min, Q
from numpy.typing import NDArray

from episodic.embedding import in_turns
from episodic.models import Entity, EntityEmbedding
from episodic.slot_queries import STANDS
from episodic.slots import text_of
from providers.embeddings import EmbeddingUnavailable
from tenants.embedding import embed_accepted, model_behind
from tenants.router import admin_role
from tenants.scope import scope
from tenants.vectors import Vectors

log = logging.getLogger(__name__)


def slot_vectors() -> Vectors:
    """What a change of the embedding model asks of slots."""
    return Vectors(
        "entity", Entity, EntityEmbedding, "entity_id", meant=Q(status__in=STANDS),
        text=text_of, row=_vector_of,
    )  # fmt: skip


def keep_vector(entity: Entity, vector: NDArray[np.float32]) -> None:
    """Stores the vector of a row that was just written, in the open scope."""
    _vector_of(entity, vector).save(force_insert=True)


def embed_pending_slots(*, limit: int = 1_000) -> int:
    """Embeds up to `limit` slots per tenant that have no vector yet; how many it is done with. A named
    cross-tenant job, as `embedding.embed_pending` is."""
    with admin_role():
        waiting = Entity.objects.filter(embed_pending=True).values("tenant_id")
        oldest_first = list(waiting.annotate(oldest=Min("created_at")).order_by("oldest"))
    return in_turns([row["tenant_id"] for row in oldest_first], _embed_batch, limit=limit)


def _embed_batch(tenant_id: UUID, size: int) -> int:
    with scope(tenant_id):
        pending = Entity.objects.filter(tenant_id=tenant_id, embed_pending=True)
        batch = list(pending.order_by("id")[:size])
    if not batch:
        return 0
    try:
        vectors, rejected = embed_accepted([text_of(one) for one in batch], tenant_id=tenant_id)
    except EmbeddingUnavailable as error:
        log.warning("embedding_unavailable: %s", error)
        return 0
    accepted = [one for place, one in enumerate(batch) if place not in rejected]
    aside = [batch[place].id for place in sorted(rejected)]
    with scope(tenant_id):
        if vectors is not None:
            _store(tenant_id, accepted, vectors)
        Entity.objects.filter(tenant_id=tenant_id, id__in=aside).update(embed_pending=False)
    for entity_id in aside:
        log.warning("embedding_rejected entity=%s: it is found by its key only", entity_id)
    return len(rejected) + (0 if vectors is None else len(accepted))


def _store(tenant_id: UUID, entities: Sequence[Entity], vectors: NDArray[np.float32]) -> None:
    """Keeps the vectors of those that still wait for one: the value of a row never changes, but it may have
    become history."""
    waiting = Entity.objects.select_for_update().filter(tenant_id=tenant_id, embed_pending=True)
    ids = [one.id for one in entities]
    left = set(waiting.filter(id__in=ids).order_by("id").values_list("id", flat=True))
    pairs = zip(entities, vectors, strict=True)
    rows = [_vector_of(one, vector) for one, vector in pairs if one.id in left]
    EntityEmbedding.objects.bulk_create(rows, ignore_conflicts=True)  # two sweepers may have met
    Entity.objects.filter(tenant_id=tenant_id, id__in=left).update(embed_pending=False)


def _vector_of(entity: Entity, vector: NDArray[np.float32]) -> EntityEmbedding:
    return EntityEmbedding(
        tenant_id=entity.tenant_id,
        entity_id=entity.id,
        user_id=entity.user_id,
        model=model_behind(vector, tenant_id=entity.tenant_id),
        embedding=vector,
    )
