"""The vectors of episodes: stored at once when the model answers, by the sweeper when it does not."""

import logging
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import Count, Min, Q
from numpy.typing import NDArray

from episodic.metrics import SET_ASIDE
from episodic.models import Episode, EpisodeEmbedding
from episodic.rows import insert_rows
from providers.embeddings import EmbeddingUnavailable
from tenants.embedding import embed_accepted, model_behind
from tenants.router import admin_role
from tenants.scope import scope
from tenants.vectors import Vectors

log = logging.getLogger(__name__)
BATCH = 64
COPIED = ("tenant_id", "agent_id", "user_id")  # beside the vector


def store_vectors(episodes: Sequence[Episode], vectors: NDArray[np.float32]) -> None:
    """Keeps the vectors of stored episodes and takes them off the pending list, in the open scope. One
    that is gone, or says something else by now, is left out."""
    locked = Episode.objects.select_for_update().filter(id__in=[episode.id for episode in episodes])
    stored = {one.id: one for one in locked.order_by("id").only("text", "valid_to", *COPIED)}
    same = [
        (stored[episode.id], vector)
        for episode, vector in zip(episodes, vectors, strict=True)
        if episode.id in stored and stored[episode.id].text == episode.text
    ]
    EpisodeEmbedding.objects.bulk_create(
        [vector_of(episode, vector) for episode, vector in same],
        ignore_conflicts=True,  # two sweepers may have met
    )
    Episode.objects.filter(id__in=[episode.id for episode, _ in same]).update(embed_pending=False)


def vector_of(episode: Episode, vector: NDArray[np.float32]) -> EpisodeEmbedding:
    """The unsaved embedding row of an episode."""
    return EpisodeEmbedding(
        tenant_id=episode.tenant_id,
        episode_id=episode.id,
        agent_id=episode.agent_id,
        user_id=episode.user_id,
        model=model_behind(vector, tenant_id=episode.tenant_id),
        embedding=vector,
        valid_to=episode.valid_to,
    )


def episode_vectors() -> Vectors:
    """What a change of the embedding model asks of episodes."""
    return Vectors(
        "episode", Episode, EpisodeEmbedding, "episode_id", meant=Q(),
        text=lambda episode: episode.text, row=vector_of,
    )  # fmt: skip


def replace_vector(episode: Episode, vector: NDArray[np.float32] | None) -> None:
    """Drops the vectors of what the episode said before, in the open scope; `vector` is of what it says."""
    replace_vectors([(episode, vector)])


def replace_vectors(said: Sequence[tuple[Episode, NDArray[np.float32] | None]]) -> None:
    """Likewise of several of one tenant."""
    if said:
        ids = [episode.id for episode, _vector in said]
        EpisodeEmbedding.objects.filter(tenant_id=said[0][0].tenant_id, episode_id__in=ids).delete()
        insert_rows([vector_of(episode, vector) for episode, vector in said if vector is not None])


def embed_pending(*, limit: int = 1_000) -> int:
    """Embeds up to `limit` episodes per tenant that have no vector yet; how many it is done with.

    A named cross-tenant job: it learns from the admin role which tenants wait, longest first, and works as
    the app role. They take turns by the batch, so that one that brings thousands holds nobody up.
    """
    return in_turns(_waiting_tenants(), _embed_batch, limit=limit)


def embed_tenant(tenant_id: UUID) -> Iterator[int]:
    """Embeds all episodes of one tenant that have no vector yet: how many it was done with, batch by batch.
    It ends early when the model is away."""
    while count := _embed_batch(tenant_id, BATCH):
        yield count


def in_turns(tenants: Sequence[UUID], embed: Callable[[UUID, int], int], *, limit: int) -> int:
    """Has `embed` done for one tenant after the other, a batch each time, until none has more or each had
    `limit`; how many it was done with."""
    done, waiting = 0, list(tenants)
    for begin in range(0, limit, BATCH):
        size = min(BATCH, limit - begin)
        embedded = {tenant_id: embed(tenant_id, size) for tenant_id in waiting}
        done += sum(embedded.values())
        waiting = [tenant_id for tenant_id, count in embedded.items() if count == size]
    return done


def _waiting_tenants() -> list[UUID]:
    with admin_role():
        waiting = Episode.objects.filter(embed_pending=True).values("tenant_id")
        oldest_first = waiting.annotate(oldest=Min("created_at"), n=Count("id")).order_by("oldest")
        return [row["tenant_id"] for row in oldest_first]


def _embed_batch(tenant_id: UUID, size: int) -> int:
    with scope(tenant_id):
        pending = Episode.objects.filter(tenant_id=tenant_id, embed_pending=True)
        batch = list(pending.order_by("id")[:size])
    if not batch:
        return 0
    try:
        vectors, rejected = embed_accepted([episode.text for episode in batch], tenant_id=tenant_id)
    except EmbeddingUnavailable as error:
        log.warning("embedding_unavailable: %s", error)
        return 0
    accepted = [episode for place, episode in enumerate(batch) if place not in rejected]
    with scope(tenant_id):
        if vectors is not None:
            store_vectors(accepted, vectors)
        for place in rejected:
            _set_aside(batch[place])
    return len(rejected) + (0 if vectors is None else len(accepted))


def _set_aside(episode: Episode) -> None:
    """Asks for its vector no more, unless it says something else by now. In the open scope."""
    same = Episode.objects.filter(id=episode.id, text=episode.text)
    if same.update(embed_pending=False):
        log.warning("embedding_rejected episode=%s: it is found by keyword only", episode.id)
        transaction.on_commit(SET_ASIDE.inc)
