"""Taking an episode back: it holds no more, or is gone for good."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from episodic.episodes import lock_episode
from episodic.models import Episode
from episodic.superseding import close
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.scope import scope


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
    """Retracts it, or with `hard` removes it with its vectors and revisions, which the audit log tells.
    Raises NotFound."""
    done = DeletedEpisode(episode_id, hard)
    with scope(caller.tenant_id):
        if hard:
            episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
            episode.delete()  # the rest goes along
            audit.record(
                tenant_id=caller.tenant_id,
                actor=caller.principal,
                action="episode.delete",
                target=str(episode_id),
            )
        else:
            episode = _retracted(caller, episode_id, now)
        idempotency.keep(done, user_id=episode.user_id)
    return done


def _retracted(caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """In the open scope."""
    episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
    close(Episode.objects.filter(tenant_id=caller.tenant_id, id=episode_id), at=now)
    episode.refresh_from_db()
    return episode
