"""Episodes in bulk with known vectors, written as the app role."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from episodic.embedding import vector_of
from episodic.indexing import entry_of
from episodic.models import Episode, EpisodeEmbedding, EpisodeWords
from providers.embeddings import get_embedder
from tenants.caller import Caller
from tenants.scope import scope

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def unit_vectors(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Random directions, shape (count, dimensions)."""
    drawn = np.random.default_rng(seed).standard_normal((count, get_embedder().dimensions))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)


def fill(caller: Caller, vectors: NDArray[np.float32], **named: Any) -> list[Episode]:
    """One embedded episode per vector; a callable in `named` is called with the number."""
    usual = {"text": lambda n: f"episode {n}", "created_at": lambda n: BEGIN + timedelta(seconds=n)}
    episodes = [
        Episode(
            tenant_id=caller.tenant_id, embed_pending=False,
            **{name: value(n) if callable(value) else value for name, value in (usual | named).items()},
        )
        for n in range(len(vectors))
    ]  # fmt: skip
    rows = [vector_of(episode, vector) for episode, vector in zip(episodes, vectors, strict=True)]
    with scope(caller.tenant_id):
        Episode.objects.bulk_create(episodes, batch_size=2_000)
        EpisodeWords.objects.bulk_create(map(entry_of, episodes), batch_size=2_000)
        EpisodeEmbedding.objects.bulk_create(rows, batch_size=2_000)
    return episodes
