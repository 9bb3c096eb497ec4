"""Changing what an episode says, with its vector."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.duplicates import content_hash
from episodic.embedding import replace_vector
from episodic.indexing import index_again
from episodic.models import Episode


def revise_episode(
    *,
    tenant_id: UUID,
    episode_id: UUID,
    before: str,
    text: str,
    topics: Sequence[str],
    outcome: str,
    metadata: dict[str, Any],
    vector: NDArray[np.float32] | None,
) -> bool:
    """Replaces the text of an episode that still says `before`, in the open scope; whether it did. One that
    somebody has edited meanwhile stays as they want it.

    `metadata` is added to what is there. `vector` is the new text's; without one, it is embedded later.
    """
    mine = Episode.objects.filter(tenant_id=tenant_id, id=episode_id, text=before, updated_at=None)
    episode = mine.select_for_update().first()
    if episode is None:
        return False
    episode.text, episode.topics, episode.outcome = text, list(topics), outcome
    episode.metadata = episode.metadata | metadata
    episode.content_hash = content_hash(text)
    episode.version += 1
    episode.embed_pending = vector is None
    episode.save(
        update_fields=["text", "topics", "outcome", "metadata", "content_hash", "version", "embed_pending"]
    )
    replace_vector(episode, vector)
    index_again(episode)
    return True
