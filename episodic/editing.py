"""Changing an episode by hand, and what it said before."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from episodic.duplicates import content_hash
from episodic.embedding import replace_vector
from episodic.episodes import access_episode, check_length, lock_episode
from episodic.indexing import index_again
from episodic.models import Episode, EpisodeRevision, Origin
from episodic.types import EpisodeChanges
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import PreconditionFailed
from tenants.scope import scope

# What summaries and turns of a session have in their metadata, where it is read again.
OF_SESSION = ("kind", "message_count", "summariser", "model", "prompt", "deterministic", "role")


def edit_episode(
    *,
    caller: Caller,
    episode_id: UUID,
    changes: EpisodeChanges,
    match: Collection[int] | None = None,
    now: datetime,
) -> Episode:
    """Changes what is given, keeps what it said before as a revision, and embeds a new text; without the
    model, the sweeper does. What changes nothing leaves no revision.

    `match`: only one of these versions, any if there are none. Raises NotFound, PreconditionFailed for
    another version, TooLarge as when it is stored, Erased.
    """
    episode = access_episode(caller=caller, episode_id=episode_id)
    vector = None
    if "text" in changes and changes["text"] != episode.text:
        check_length(episode, changes["text"])
        vectors = try_embed([changes["text"]], tenant_id=caller.tenant_id)
        vector = None if vectors is None else vectors[0]
    with scope(caller.tenant_id):
        episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
        if match and episode.version not in match:
            raise PreconditionFailed("The episode has changed since.")
        _change(episode, _differing(episode, changes), vector, caller, now)
        idempotency.keep(episode, user_id=episode.user_id)
    return episode


def list_revisions(
    *, caller: Caller, episode_id: UUID, limit: int, before: int | None = None
) -> list[EpisodeRevision]:
    """What it said before each change, newest first; `before`: only revisions of a lower number. Raises
    NotFound."""
    access_episode(caller=caller, episode_id=episode_id)
    with scope(caller.tenant_id):
        found = EpisodeRevision.objects.filter(tenant_id=caller.tenant_id, episode_id=episode_id)
        found = found if before is None else found.filter(number__lt=before)
        return list(found.order_by("-number")[:limit])


def _differing(episode: Episode, changes: EpisodeChanges) -> dict[str, Any]:
    """The fields that would change. What a session left behind stays recognisable as that."""
    given: dict[str, Any] = dict(changes)
    if "metadata" in given and episode.origin == Origin.SESSION:
        kept = {name: episode.metadata[name] for name in OF_SESSION if name in episode.metadata}
        given["metadata"] = given["metadata"] | kept
    return {name: value for name, value in given.items() if value != getattr(episode, name)}


def _change(
    episode: Episode,
    fields: dict[str, Any],
    vector: NDArray[np.float32] | None,
    caller: Caller,
    now: datetime,
) -> None:
    if not fields:
        return
    _keep_revision(episode, caller, now)
    for name, value in fields.items():
        setattr(episode, name, value)
    episode.updated_at = now
    episode.version += 1
    if "text" in fields:
        episode.content_hash = content_hash(episode.text)
        episode.embed_pending = vector is None
    episode.save(update_fields=[*fields, "updated_at", "version", "content_hash", "embed_pending"])
    if "text" in fields:
        replace_vector(episode, vector)
    index_again(episode)


def _keep_revision(episode: Episode, caller: Caller, now: datetime) -> None:
    mine = EpisodeRevision.objects.filter(tenant_id=episode.tenant_id, episode_id=episode.id)
    newest = mine.aggregate(newest=Max("number"))["newest"] or 0
    EpisodeRevision.objects.create(
        tenant_id=episode.tenant_id,
        episode_id=episode.id,
        number=newest + 1,
        user_id=episode.user_id,
        text=episode.text,
        topics=episode.topics,
        entities=episode.entities,
        outcome=episode.outcome,
        event_date=episode.event_date,
        metadata=episode.metadata,
        replaced_at=now,
        replaced_by=caller.principal,
    )
