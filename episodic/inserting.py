"""The one way into the table of episodes: the row, its words, and its vector if there is one yet."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.announcements import tell_episode
from episodic.embedding import vector_of
from episodic.indexing import entry_of
from episodic.models import Episode, EpisodeWords
from webhooks.models import Event


def insert_episode(episode: Episode, vector: NDArray[np.float32] | None = None) -> None:
    """Stores a built episode in the open scope, found by its words from now on, and by its meaning if it
    comes with its vector; else the sweeper embeds it."""
    episode.embed_pending = vector is None
    episode.save(force_insert=True)
    entry_of(episode).save(force_insert=True)
    if vector is not None:
        vector_of(episode, vector).save(force_insert=True)
    tell_episode(episode, Event.CREATED)


def insert_episodes(episodes: Sequence[Episode], *, places: Mapping[UUID, int] | None = None) -> None:
    """Likewise many, without vectors; one whose id is there already stays as it is. `places` are those of
    turns in their sessions, by id."""
    places = places or {}
    Episode.objects.bulk_create(episodes, ignore_conflicts=True)
    entries = [entry_of(one, place=places.get(one.id)) for one in episodes]
    EpisodeWords.objects.bulk_create(entries, ignore_conflicts=True)
