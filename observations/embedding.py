"""The vectors of observations: made by a job after the commit, some dozens at once."""

import logging
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from observations import querysets
from observations.indexing import EMBED
from observations.models import Observation, ObservationEmbedding
from providers.embeddings import EmbeddingUnavailable, get_embedder
from tenants.embedding import embed_accepted
from tenants.jobs.kinds import Kind, RetryLater, Task
from tenants.scope import scope

log = logging.getLogger(__name__)
BATCH = 64


def embed_kind() -> Kind:
    """The job that embeds what a tenant has written since. All of it is preparation: the model is asked."""

    def prepare(task: Task) -> None:
        try:
            while embed_batch(task.tenant_id):
                pass
        except EmbeddingUnavailable as error:
            raise RetryLater(str(error), error.retry_after or 0.0) from error

    def apply(task: Task, prepared: Any) -> None:
        """Nothing is left to do."""

    return Kind(EMBED, apply, prepare=prepare, slow=True, urgent=True, attempts=1_000)


def embed_batch(tenant_id: UUID) -> int:
    """Embeds up to `BATCH` live observations that have no vector yet; with how many it is done.

    Raises EmbeddingUnavailable when the model is away. One whose text the model does not take is set aside.
    """
    with scope(tenant_id):
        pending = Observation.objects.filter(tenant_id=tenant_id, embed_pending=True, deleted_at=None)
        batch = list(pending.order_by("id")[:BATCH])
    if not batch:
        return 0
    vectors, rejected = embed_accepted([text_of(one) for one in batch], tenant_id=tenant_id)
    accepted = [one for place, one in enumerate(batch) if place not in rejected]
    with scope(tenant_id):
        if vectors is not None:
            _store(accepted, vectors)
        for place in rejected:
            log.warning("embedding_rejected observation=%s: it is found by its words only", batch[place].id)
        _done([batch[place] for place in rejected])
    return len(rejected) + (0 if vectors is None else len(accepted))


def text_of(observation: Observation) -> str:
    """What is embedded."""
    return f"{observation.title}\n{observation.content}"


def _store(batch: list[Observation], vectors: NDArray[np.float32]) -> None:
    """Keeps the vectors of those that are still there, live, and say the same. In an open scope."""
    said = {one.id: text_of(one) for one in batch}
    locked = Observation.objects.select_for_update().filter(id__in=list(said), deleted_at=None).order_by("id")
    same = {row.id: row for row in locked if text_of(row) == said[row.id]}
    ObservationEmbedding.objects.bulk_create(
        [
            ObservationEmbedding(
                tenant_id=one.tenant_id,
                observation_id=one.id,
                corpus=querysets.corpus_of(same[one.id]),
                user_id=one.user_id,
                model=get_embedder().model,
                embedding=vector,
            )
            for one, vector in zip(batch, vectors, strict=True)
            if one.id in same
        ],
        ignore_conflicts=True,  # two workers may have met
    )
    _done(list(same.values()))


def _done(batch: list[Observation]) -> None:
    """Asks for their vectors no more, but for that of one that says something else by now."""
    for one in batch:
        same = Observation.objects.filter(id=one.id, title=one.title, content=one.content)
        same.update(embed_pending=False)
