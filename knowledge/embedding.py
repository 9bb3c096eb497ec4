"""The vectors of chunks: made by a job after the commit, some dozens at once."""

import logging
import random
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from knowledge import querysets
from knowledge.models import Chunk, ChunkEmbedding
from providers.embeddings import EmbeddingUnavailable
from tenants import vectors
from tenants.embedding import embed_accepted, model_behind
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.queue import enqueue
from tenants.scope import scope
from tenants.vectors import Vectors

log = logging.getLogger(__name__)
EMBED = "knowledge.embed"
BATCH = 64  # some seconds of work for the local model
CHOICE = 16  # batches of which a worker takes any


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch with its vectors, (accepted, dimensions) in the batch's order; None if too few texts were
    taken. `rejected`: the positions of those that the model does not take."""

    batch: list[Chunk]
    vectors: NDArray[np.float32] | None
    rejected: frozenset[int]


def embed_kind() -> Kind:
    """The job that embeds the chunks of a tenant: one batch, so that other tenants' work comes in between;
    then the next of these jobs, if there is more."""

    def prepare(task: Task) -> Embedded | None:
        try:
            return _embedded(task.tenant_id)
        except EmbeddingUnavailable as error:
            raise RetryLater(str(error), error.retry_after or 0.0) from error

    def apply(task: Task, prepared: Embedded | None) -> None:
        if prepared is not None:
            _store(prepared)
            if _pending(task.tenant_id).exists():
                ask_for_vectors(now=task.since)

    return Kind(EMBED, apply, prepare=prepare, slow=True, urgent=True, attempts=1_000)


def register_vectors() -> None:
    """Tells whoever changes the model which chunks have vectors."""
    vectors.register(
        Vectors(
            "chunk", Chunk, ChunkEmbedding, item="chunk_id", meant=Q(),
            text=text_of, row=_row, searched=True,
        )
    )  # fmt: skip


def ask_for_vectors(*, now: datetime) -> None:
    """Has the chunks of the open scope's tenant embedded that have no vector yet."""
    enqueue(EMBED, payload={}, now=now, dedup_key=EMBED)


def text_of(chunk: Chunk) -> str:
    """What is embedded: the headings tell what the text is about."""
    return f"{chunk.heading}\n{chunk.text}" if chunk.heading else chunk.text


def _pending(tenant_id: UUID) -> QuerySet[Chunk]:
    return Chunk.objects.filter(tenant_id=tenant_id, embed_pending=True)


def _embedded(tenant_id: UUID) -> Embedded | None:
    """Some of those that wait: any of the first, so that two workers seldom embed the same."""
    with scope(tenant_id):
        ids = list(_pending(tenant_id).order_by("id").values_list("id", flat=True)[: BATCH * CHOICE])
        first = random.randrange(0, len(ids), BATCH) if ids else 0  # noqa: S311  no secret
        some = _pending(tenant_id).filter(id__in=ids[first : first + BATCH])
        batch = list(some.defer("lexemes").order_by("id"))
    if not batch:
        return None
    vectors, rejected = embed_accepted([text_of(one) for one in batch], tenant_id=tenant_id)
    return Embedded(batch, vectors, rejected)


def _store(embedded: Embedded) -> None:
    """Keeps the vectors of those that are still there, in the open scope: a chunk never says anything else.
    These, and what the model does not take, are asked for no more."""
    ids = [one.id for one in embedded.batch]
    locked = Chunk.objects.select_for_update().filter(id__in=ids, embed_pending=True).order_by("id")
    there = set(locked.values_list("id", flat=True))
    accepted = [one for place, one in enumerate(embedded.batch) if place not in embedded.rejected]
    rejected = [embedded.batch[place] for place in embedded.rejected]
    if embedded.vectors is None:
        accepted = []
    else:
        made = zip(accepted, embedded.vectors, strict=True)
        querysets.store_vectors([_row(one, vector) for one, vector in made if one.id in there])
    for one in rejected:
        log.warning("embedding_rejected chunk=%s: it is found by its words only", one.id)
    dealt_with = [one.id for one in (*accepted, *rejected)]
    Chunk.objects.filter(id__in=dealt_with).update(embed_pending=False)


def _row(chunk: Chunk, vector: NDArray[np.float32]) -> ChunkEmbedding:
    return ChunkEmbedding(
        tenant_id=chunk.tenant_id,
        chunk_id=chunk.id,
        project=chunk.project,
        user_id=chunk.user_id,
        model=model_behind(vector, tenant_id=chunk.tenant_id),
        embedding=vector,
    )
