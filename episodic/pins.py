"""Pinning: retention passes a pinned episode by."""

from datetime import datetime
from uuid import UUID

from episodic.episodes import lock_episode
from episodic.models import Episode
from tenants import idempotency
from tenants.caller import Caller
from tenants.scope import scope


def pin_episode(*, caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """Keeps the episode until somebody deletes it. One that is pinned stays as it is. Raises NotFound."""
    return _set(caller, episode_id, now, is_pinned=True)


def unpin_episode(*, caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """Leaves the episode to retention again. Raises NotFound."""
    return _set(caller, episode_id, now, is_pinned=False)


def _set(caller: Caller, episode_id: UUID, now: datetime, *, is_pinned: bool) -> Episode:
    with scope(caller.tenant_id):
        episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
        if (episode.pinned_at is not None) != is_pinned:
            episode.pinned_at = now if is_pinned else None
            episode.version += 1
            episode.save(update_fields=["pinned_at", "version"])
        idempotency.keep(episode, user_id=episode.user_id)
    return episode
