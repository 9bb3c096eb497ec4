"""Changing an episode by hand, and what it said before."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from uuid_utils.compat import uuid7

from episodic.announcements import tell_episode
from episodic.duplicates import content_hash
from episodic.embedding import replace_vector
from episodic.episodes import access_episode, check_length, lock_episode
from episodic.indexing import index_again
from episodic.item_edits import OF_ITEM, follow_edit, is_item
from episodic.models import Episode, EpisodeRevision, MemoryType, Origin
from episodic.placing import Place, lock_places, move, place_of
from episodic.types import EpisodeChanges
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Forbidden, Invalid, PreconditionFailed
from tenants.scope import scope
from tenants.tombstones import refuse_erased
from webhooks.models import Event

# What summaries and turns of a session have in their metadata, where it is read again.
OF_SESSION = ("kind", "message_count", "summariser", "provider", "model", "prompt", "deterministic", "role")
SAID = ("text", "topics", "entities", "outcome", "event_date", "metadata")  # what a revision keeps
# The ids stand there twice: on a table that was not analysed yet, the planner would read all of it.
KEEP = """
INSERT INTO episode_revisions (id, tenant_id, episode_id, number, user_id, text, topics, entities, outcome,
                               event_date, metadata, replaced_at, replaced_by)
SELECT kept.id, e.tenant_id, e.id,
       1 + coalesce((SELECT max(r.number) FROM episode_revisions r
                     WHERE r.tenant_id = %(tenant)s AND r.episode_id = e.id), 0),
       e.user_id, e.text, e.topics, e.entities, e.outcome, e.event_date, e.metadata, %(now)s, %(by)s
FROM unnest(%(ids)s::uuid[], %(episodes)s::uuid[]) AS kept (id, episode_id)
JOIN agent_episodes e ON e.id = kept.episode_id
WHERE e.tenant_id = %(tenant)s AND e.id = ANY(%(episodes)s::uuid[])
"""
PLACED = {"agent_id": 255, "project": 200, "memory_type": 16}  # under what it stands; the columns' lengths


def edit_episode(
    *,
    caller: Caller,
    episode_id: UUID,
    changes: EpisodeChanges,
    match: Collection[int] | None = None,
    now: datetime,
) -> Episode:
    """Changes what is given, keeps what it said before as a revision, and embeds a new text; without the
    model, the sweeper does. What changes nothing leaves no revision. Whose it is, `reassigning` corrects.

    Under another agent, project or type it is found at once. What it closed as a statement where it stood
    holds again, unless something later contradicts that, and it closes what it contradicts where it stands
    then, or is closed by what is later there. The audit log tells of it. A verbatim turn remains one, and
    nothing else becomes one; one of a session stands where its conversation does.

    `match`: only one of these versions, any if there are none. Raises NotFound, PreconditionFailed for
    another version, TooLarge as when it is stored, Erased, Invalid, Forbidden for what a bound key would not
    reach.
    """
    episode = access_episode(caller=caller, episode_id=episode_id)
    _check_place(caller, episode, changes)
    vector, text = None, changes.get("text", episode.text)
    agent_id = changes.get("agent_id", episode.agent_id)
    if text != episode.text or agent_id != episode.agent_id:
        check_length(Episode(tenant_id=episode.tenant_id, agent_id=agent_id), text)
    if text != episode.text:
        vectors = try_embed([text], tenant_id=caller.tenant_id)
        vector = None if vectors is None else vectors[0]
    former, aim = place_of(episode), _aim(episode, changes)
    with scope(caller.tenant_id):
        if aim != former:
            refuse_erased(tenant_id=caller.tenant_id, user_id=episode.user_id, since=now)
            lock_places(caller.tenant_id, former, aim)  # after the person, before the row
        episode = lock_episode(caller=caller, episode_id=episode_id, now=now)
        if (match and episode.version not in match) or (aim != former and place_of(episode) != former):
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


def _check_place(caller: Caller, episode: Episode, changes: EpisodeChanges) -> None:
    given: dict[str, Any] = {name: changes[name] for name in PLACED if name in changes}  # type: ignore[literal-required]
    for name, value in given.items():
        if len(value) > PLACED[name] or "\x00" in value:
            raise Invalid(f"At most {PLACED[name]} characters, none of them NUL.", name)
    for name, bound in (("agent_id", caller.agent_id), ("project", caller.project)):
        if bound and given.get(name, bound) != bound:
            raise Forbidden("This key is bound: what it changes stays within its reach.")
    types = {episode.memory_type, given.get("memory_type", episode.memory_type)}
    if not types <= set(MemoryType.values):
        raise Invalid(f"Must be one of {', '.join(MemoryType.values)}.", "memory_type")
    if MemoryType.MESSAGE in types and len(types) > 1:
        raise Invalid("A verbatim turn remains one, and nothing else becomes one.", "memory_type")
    if MemoryType.MESSAGE in types and episode.origin == Origin.SESSION:
        for name in ("agent_id", "project"):
            if given.get(name, getattr(episode, name)) != getattr(episode, name):
                raise Invalid("A turn stands where its conversation does.", name)


def _aim(episode: Episode, changes: EpisodeChanges) -> Place:
    memory_type = changes.get("memory_type", episode.memory_type)
    return replace(
        place_of(episode),
        agent_id=changes.get("agent_id", episode.agent_id),
        project=changes.get("project", episode.project),
        is_statement=memory_type == MemoryType.SEMANTIC,
    )


def _differing(episode: Episode, changes: EpisodeChanges) -> dict[str, Any]:
    """The fields that would change. What a session left behind stays recognisable as that, and an item keeps
    its name."""
    given: dict[str, Any] = dict(changes)
    if "metadata" in given:
        names = OF_SESSION if episode.origin == Origin.SESSION else OF_ITEM if is_item(episode) else ()
        kept = {name: episode.metadata[name] for name in names if name in episode.metadata}
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
    said = {name: value for name, value in fields.items() if name in SAID}
    if said:
        keep_revision(episode, caller, now)
    former = episode.text
    for name, value in said.items():
        setattr(episode, name, value)
    episode.updated_at = now
    episode.version += 1
    if "text" in said:
        episode.content_hash = content_hash(episode.text)
        episode.embed_pending = vector is None
    episode.save(update_fields=[*said, "updated_at", "version", "content_hash", "embed_pending"])
    if "text" in said:
        replace_vector(episode, vector)
        follow_edit(episode, former=former, now=now)
    if placed := [name for name in fields if name in PLACED]:
        _place(episode, fields, placed, caller)
    index_again(episode)
    tell_episode(episode, Event.UPDATED)


def _place(episode: Episode, fields: dict[str, Any], placed: list[str], caller: Caller) -> None:
    """In the open scope, once it says what it is to say."""
    memory_type = fields.get("memory_type", episode.memory_type)
    aim = _aim(episode, EpisodeChanges(**{name: fields[name] for name in placed}))  # type: ignore[typeddict-item]
    episode.supersedes = move(caller=caller, episode=episode, aim=aim, memory_type=memory_type)
    audit.record(
        tenant_id=episode.tenant_id,
        actor=caller.principal,
        action="episode.move",
        target=str(episode.id),
        fields=sorted(placed),
    )


def keep_revision(episode: Episode, caller: Caller, now: datetime) -> None:
    """Keeps what the locked episode says, before something else is stored of it, in the open scope."""
    keep_revisions([episode], caller, now)


def keep_revisions(episodes: Sequence[Episode], caller: Caller, now: datetime) -> None:
    """Likewise of several. What is kept is what is stored of them: they themselves may say something else."""
    if not episodes:
        return
    params: dict[str, Any] = {
        "tenant": caller.tenant_id,
        "ids": [uuid7() for _one in episodes],
        "episodes": [one.id for one in episodes],
        "now": now,
        "by": caller.principal,
    }
    with connection.cursor() as cursor:
        cursor.execute(KEEP, params)
