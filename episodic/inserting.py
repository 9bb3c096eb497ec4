"""The one way into the table of episodes: the row, its words, and its vector if there is one yet."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from episodic.embedding import vector_of
from episodic.indexing import entry_of
from episodic.models import Episode, EpisodeWords


def insert_episode(episode: Episode, vector: NDArray[np.float32] | None = None) -> None:
    """Stores a built episode in the open scope, found by its words from now on, and by its meaning if it
    comes with its vector; else the sweeper embeds it."""
    episode.embed_pending = vector is None
    episode.save(force_insert=True)
    entry_of(episode).save(force_insert=True)
    if vector is not None:
        vector_of(episode, vector).save(force_insert=True)


def insert_episodes(episodes: Sequence[Episode]) -> None:
    """Likewise many, without vectors; one whose id is there already stays as it is."""
    Episode.objects.bulk_create(episodes, ignore_conflicts=True)
    EpisodeWords.objects.bulk_create(map(entry_of, episodes), ignore_conflicts=True)
