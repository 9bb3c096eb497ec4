"""The vectors of observations: made by a job after the commit, some dozens at once."""

import logging
import random
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from observations import querysets
from observations.indexing import EMBED
from observations.models import Observation, ObservationEmbedding
from providers.embeddings import EmbeddingUnavailable
from tenants import vectors
from tenants.embedding import embed_accepted, model_behind
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.jobs.queue import enqueue
from tenants.scope import scope
from tenants.vectors import Vectors

log = logging.getLogger(__name__)
BATCH = 64  # at most about a second of work for the local model
CHOICE = 16  # batches of which a worker takes any


@dataclass(frozen=True, slots=True)
class Embedded:
    """A batch with its vectors, (accepted, dimensions) in the batch's order; None if too few texts were
    taken. `rejected`: the positions of those that the model does not take."""

    batch: list[Observation]
    vectors: NDArray[np.float32] | None
    rejected: frozenset[int]


def embed_kind() -> Kind:
    """The job that embeds what a tenant has written since: one batch, so that other tenants' work comes in
    between; then the next of these jobs, if there is more."""

    def prepare(task: Task) -> Embedded | None:
        try:
            return _embedded(task.tenant_id)
        except EmbeddingUnavailable as error:
            raise RetryLater(str(error), error.retry_after or 0.0) from error

    def apply(task: Task, prepared: Embedded | None) -> None:
        if prepared is not None:
            _store(prepared)
            if _pending(task.tenant_id).exists():
                enqueue(EMBED, payload={}, now=task.since, dedup_key=EMBED)

    return Kind(EMBED, apply, prepare=prepare, slow=True, urgent=True, attempts=1_000)


def register_vectors() -> None:
    """Called once the models are loaded."""
    vectors.register(
        Vectors(
            "observation", Observation, ObservationEmbedding, "observation_id", Q(deleted_at=None),
            text=text_of, row=_row, searched=True,
        )
    )  # fmt: skip


def embed_batch(tenant_id: UUID) -> int:
    """Embeds up to `BATCH` live observations that have no vector yet; with how many it is done.

    Raises EmbeddingUnavailable when the model is away. One whose text the model does not take is set aside.
    """
    embedded = _embedded(tenant_id)
    if embedded is None:
        return 0
    with scope(tenant_id):
        return _store(embedded)


def _pending(tenant_id: UUID) -> QuerySet[Observation]:
    return Observation.objects.filter(tenant_id=tenant_id, embed_pending=True, deleted_at=None)


def _embedded(tenant_id: UUID) -> Embedded | None:
    """Some of those that wait: any of the first, so that two workers seldom embed the same."""
    with scope(tenant_id):
        ids = list(_pending(tenant_id).order_by("id").values_list("id", flat=True)[: BATCH * CHOICE])
        first = random.randrange(0, len(ids), BATCH) if ids else 0  # noqa: S311  no secret
        batch = list(_pending(tenant_id).filter(id__in=ids[first : first + BATCH]).order_by("id"))
    if not batch:
        return None
    vectors, rejected = embed_accepted([text_of(one) for one in batch], tenant_id=tenant_id)
    return Embedded(batch, vectors, rejected)


def text_of(observation: Observation) -> str:
    """What is embedded."""
    return f"{observation.title}\n{observation.content}"


def _store(embedded: Embedded) -> int:
    """Keeps the vectors of those that are still there, live, and say the same; in the open scope. These, and
    what the model does not take, are asked for no more; how many were dealt with."""
    said = {one.id: text_of(one) for one in embedded.batch}
    locked = Observation.objects.select_for_update().filter(id__in=list(said), deleted_at=None).order_by("id")
    same = {row.id: row for row in locked if text_of(row) == said[row.id]}
    accepted = [one.id for place, one in enumerate(embedded.batch) if place not in embedded.rejected]
    rejected = [embedded.batch[place].id for place in embedded.rejected]
    if embedded.vectors is None:
        accepted = []
    else:
        vectors = zip(accepted, embedded.vectors, strict=True)
        rows = [_row(same[one], vector) for one, vector in vectors if one in same]
        ObservationEmbedding.objects.bulk_create(rows, ignore_conflicts=True)  # two workers may have met
    for one in rejected:
        log.warning("embedding_rejected observation=%s: it is found by its words only", one)
    dealt_with = [one for one in (*accepted, *rejected) if one in same]
    Observation.objects.filter(id__in=dealt_with).update(embed_pending=False)
    return len(accepted) + len(rejected)


def _row(observation: Observation, vector: NDArray[np.float32]) -> ObservationEmbedding:
    return ObservationEmbedding(
        tenant_id=observation.tenant_id,
        observation_id=observation.id,
        corpus=querysets.corpus_of(observation),
        user_id=observation.user_id,
        model=model_behind(vector, tenant_id=observation.tenant_id),
        embedding=vector,
    )
