"""Whose memory an episode stands in: what happens there when it leaves one for another, in one transaction.

A memory is that of one user, agent, project and namespace. A statement (`semantic`) counts in it: it closes
what it contradicts. So one that never belonged there gives that back, and closes what it contradicts where it
does belong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.db.models import Q
from numpy.typing import NDArray

from episodic.access import vectors_of
from episodic.announcements import tell_episode
from episodic.duplicates import lock_memory
from episodic.item_edits import refuse_move
from episodic.models import (
    Episode,
    EpisodeAccess,
    EpisodeEmbedding,
    EpisodeRevision,
    EpisodeWords,
    MemoryType,
)
from episodic.superseding import supersede
from ledger.models import EvaluationQuery, Feedback, WriteDecision
from tenants.caller import Caller
from webhooks.models import Event, Kind
from webhooks.querysets import forget_text


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Whose memory, and whether it counts as a statement there."""

    user_id: str
    agent_id: str
    project: str
    namespace: str
    is_statement: bool


def place_of(episode: Episode) -> Place:
    """Where it stands."""
    return Place(
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project=episode.project,
        namespace=episode.namespace,
        is_statement=episode.memory_type == MemoryType.SEMANTIC,
    )


def lock_places(tenant_id: UUID, *places: Place) -> None:
    """Waits, in the open scope, for whoever writes a statement in one of these; before any row is locked."""
    for place in sorted({one for one in places if one.is_statement}):
        lock_memory(
            tenant_id=tenant_id,
            user_id=place.user_id,
            agent_id=place.agent_id,
            project=place.project,
            namespace=place.namespace,
        )


def move(*, caller: Caller, episode: Episode, aim: Place, memory_type: str) -> tuple[UUID, ...]:
    """Has the locked episode stand there, in the open scope, with both places locked; the ids of what holds
    no more because of it. Saved are those columns and when it ends; whoever calls saves the rest. Raises
    Conflict for an item of the store."""
    refuse_move(episode)
    former = place_of(episode)
    given_back = _closed_by(episode, former) if former.is_statement else []
    if former.is_statement and episode.superseded_by and not _is_same_memory(former, aim):
        episode.valid_to = episode.superseded_by = None  # by what does not count there
    episode.user_id, episode.agent_id, episode.project = aim.user_id, aim.agent_id, aim.project
    episode.memory_type = memory_type
    closed: tuple[UUID, ...] = ()
    if aim.is_statement and episode.valid_to is None:
        closed = supersede(episode, _vectors(caller, [episode]).get(episode.id))
    episode.save(update_fields=["user_id", "agent_id", "project", "memory_type", "valid_to", "superseded_by"])
    _take_along(episode)
    if former.user_id != episode.user_id:
        # What was told as the former person's stays theirs, without what is the other's from now on.
        forget_text(tenant_id=episode.tenant_id, kind=Kind.EPISODE, memory_ids=[str(episode.id)])
    _drop_foreign_labels(episode)
    _hold_again(caller, given_back)
    return closed


def _is_same_memory(one: Place, other: Place) -> bool:
    return (one.user_id, one.agent_id, one.project) == (other.user_id, other.agent_id, other.project)


def _closed_by(episode: Episode, place: Place) -> list[Episode]:
    """What it took the place of, where it stands."""
    mine = Episode.objects.filter(
        tenant_id=episode.tenant_id,
        superseded_by=episode.id,
        user_id=place.user_id,
        agent_id=place.agent_id,
        project=place.project,
        namespace=place.namespace,
        memory_type=MemoryType.SEMANTIC,
    )
    return list(mine.select_for_update().order_by("id"))


def _hold_again(caller: Caller, episodes: Sequence[Episode]) -> None:
    """The last one first: it, or what came later, closes those before it."""
    vectors = _vectors(caller, episodes)
    for one in sorted(episodes, key=lambda row: row.valid_from or row.created_at, reverse=True):
        one.valid_to = one.superseded_by = None
        supersede(one, vectors.get(one.id))
        one.version += 1
        one.save(update_fields=["valid_to", "superseded_by", "version"])
        _copy_end(one)
        if one.valid_to is None:
            tell_episode(one, Event.CREATED)


def _vectors(caller: Caller, episodes: Sequence[Episode]) -> dict[UUID, NDArray[np.float32]]:
    """Of those that have one."""
    found = vectors_of(caller=caller, ids=[one.id for one in episodes]) if episodes else {}
    return {one: np.asarray(vector, dtype=np.float32) for one, vector in found.items()}


def _take_along(one: Episode) -> None:
    """What stands beside it under its names: found, exported and erased by them. Its words are indexed anew
    by whoever calls."""
    mine = {"tenant_id": one.tenant_id, "episode_id": one.id}
    EpisodeEmbedding.objects.filter(**mine).update(
        user_id=one.user_id, agent_id=one.agent_id, valid_to=one.valid_to
    )
    EpisodeRevision.objects.filter(**mine).update(user_id=one.user_id)
    used = EpisodeAccess.objects.filter(tenant_id=one.tenant_id, id=one.id)
    used.update(user_id=one.user_id, agent_id=one.agent_id)
    named = {"tenant_id": one.tenant_id, "kind": "episode", "memory_id": str(one.id)}
    for table in (Feedback, WriteDecision):
        table._default_manager.filter(**named).update(
            user_id=one.user_id, agent_id=one.agent_id, project=one.project
        )


def _copy_end(one: Episode) -> None:
    EpisodeEmbedding.objects.filter(tenant_id=one.tenant_id, episode_id=one.id).update(valid_to=one.valid_to)
    EpisodeWords.objects.filter(tenant_id=one.tenant_id, id=one.id).update(valid_to=one.valid_to)


def _drop_foreign_labels(one: Episode) -> None:
    """It answers no saved query any more that asks for others' memories."""
    theirs = Q(user_id__in=("", one.user_id)) & Q(agent_id__in=("", one.agent_id))
    labelled = EvaluationQuery.objects.filter(tenant_id=one.tenant_id, relevant__contains=[one.id])
    found = list(labelled.exclude(theirs).select_for_update().order_by("id"))
    for query in found:
        query.relevant = [label for label in query.relevant if label != one.id]
    EvaluationQuery.objects.bulk_update(found, ["relevant"])
