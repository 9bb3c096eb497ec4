"""Taking an episode back: it holds no more, or is gone for good."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from episodic.announcements import tell_episodes
from episodic.episodes import lock_episode
from episodic.models import Episode
from episodic.superseding import close
from ledger.cases import drop_labels
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.scope import scope
from webhooks.models import Event


@dataclass(frozen=True, slots=True)
class DeletedEpisode:
    """An episode that was taken back, or, if `hard`, is gone with its vectors and revisions."""

    id: UUID
    hard: bool


def retract_episode(*, caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """Ends its validity: it is recalled no more, and stays in the history. One that holds no more anyway
    stays as it is. Raises NotFound."""
    with scope(caller.tenant_id):
        episode = _retracted(caller, episode_id, now)
        idempotency.keep(episode, user_id=episode.user_id)
    return episode


def delete_episode(*, caller: Caller, episode_id: UUID, hard: bool, now: datetime) -> DeletedEpisode:
    """Retracts it, or with `hard` removes it with its vectors, its revisions and the labels that point to it,
    which the audit log tells.
    Raises NotFound."""
    done = DeletedEpisode(episode_id, hard)
    with scope(caller.tenant_id):
        if hard:
            episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
            remove(caller=caller, episodes=[episode])
        else:
            episode = _retracted(caller, episode_id, now)
        idempotency.keep(done, user_id=episode.user_id)
    return done


def remove(*, caller: Caller, episodes: Collection[Episode], **why: Any) -> None:
    """Deletes the locked episodes for good, in the open scope; `why` is told to the audit log."""
    ids = {one.id for one in episodes}
    tell_episodes(list(episodes), Event.ERASED)
    Episode.objects.filter(tenant_id=caller.tenant_id, id__in=ids).delete()  # the rest goes along
    drop_labels(tenant_id=caller.tenant_id, are_gone=ids.intersection)
    audit.record_each(
        tenant_id=caller.tenant_id,
        actor=caller.principal,
        action="episode.delete",
        targets=[str(one.id) for one in episodes],
        **why,
    )


def _retracted(caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """In the open scope."""
    episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
    close(Episode.objects.filter(tenant_id=caller.tenant_id, id=episode_id), at=now)
    episode.refresh_from_db()
    return episode
