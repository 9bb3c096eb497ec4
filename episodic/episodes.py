"""Storing, reading and listing episodes."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from episodic import querysets
from episodic.duplicates import content_hash
from episodic.inserting import insert_episode
from episodic.metrics import counted_write
from episodic.models import Episode, MemoryType
from episodic.superseding import supersede
from episodic.types import EpisodeFilter, EpisodeTraits, NewEpisode
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Forbidden, Invalid, NotFound, TooLarge
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased

ANY_TRAITS = EpisodeTraits()
CLOCKS_DIFFER = timedelta(minutes=5)
KEPT_BACK = "Turns of conversations are shown to editors."


def store_episode(*, caller: Caller, new: NewEpisode, now: datetime) -> Episode:
    """Stores an episode with its vector; without one when the model does not answer, to be embedded later.

    A statement of what holds (`semantic`) closes the ones that it contradicts; `supersedes` has their ids.
    Raises Forbidden when `new` names another user, agent or project than the key is bound to, Invalid when
    it begins to hold in the future, TooLarge when its text is longer than `limits.episode_chars`.
    """
    episode = build_episode(caller=caller, new=new, now=now)
    check_length(episode, episode.text)
    vectors = try_embed([episode.text], tenant_id=caller.tenant_id)
    vector = None if vectors is None else vectors[0]
    with counted_write(embedded=vector is not None), scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=episode.user_id, since=now)
        episode.supersedes = supersede(episode, vector)
        insert_episode(episode, vector)
        idempotency.keep(episode, user_id=episode.user_id)
    return episode


def build_episode(*, caller: Caller, new: NewEpisode, now: datetime) -> Episode:
    """The unsaved episode, confined to what the key reaches. Raises Invalid for one that begins to hold in
    the future; a clock that is a little ahead is taken for ours."""
    if new.valid_from is not None and new.valid_from > now + CLOCKS_DIFFER:
        raise Invalid("May not be in the future: it does not hold yet.", "valid_from")
    return Episode(
        tenant_id=caller.tenant_id,
        namespace=new.namespace,
        user_id=caller.confine_user(new.user_id),
        agent_id=caller.confine_agent(new.agent_id),
        project=caller.confine_project(new.project),
        session=new.session_id,
        memory_type=new.memory_type,
        origin=new.origin,
        text=new.text,
        content_hash=content_hash(new.text),
        topics=list(new.topics),
        entities=list(new.entities),
        outcome=new.outcome,
        key_decisions=new.key_decisions,
        entities_mentioned=new.entities_mentioned,
        tools_called=new.tools_called,
        covers_turns=list(new.covers_turns) if new.covers_turns else None,
        event_date=new.event_date,
        valid_from=min(new.valid_from, now) if new.valid_from else None,
        metadata=new.metadata,
        created_at=now,
    )


def confine(caller: Caller, where: EpisodeFilter) -> EpisodeFilter:
    """The filter with what the key is bound to filled in, and without verbatim turns for whoever is not shown
    conversations. Raises Forbidden when it asks for another's, or for nothing but turns."""
    return replace(
        where,
        user_id=caller.confine_user(where.user_id) or None,
        agent_id=caller.confine_agent(where.agent_id) or None,
        project=caller.confine_project(where.project) or None,
        memory_types=_readable(caller, where.memory_types),
    )


def check_length(episode: Episode, text: str) -> None:
    """Raises TooLarge when `text` is longer than the policy allows an episode to be."""
    longest = read_policy(tenant_id=episode.tenant_id, agent_id=episode.agent_id).limits.episode_chars
    if len(text) > longest:
        raise TooLarge(f"The text exceeds {longest} characters.")


def access_episode(*, caller: Caller, episode_id: UUID) -> Episode:
    """The episode, whether it still holds or not. Raises NotFound, also for one out of the key's reach;
    Forbidden for a verbatim turn, for whoever is not shown conversations."""
    with scope(caller.tenant_id):
        found = Episode.objects.filter(_bound(caller), id=episode_id).first()
    if found is None:
        raise NotFound("There is no such episode.")
    if is_kept_back(caller, found):
        raise Forbidden(KEPT_BACK)
    return found


def lock_episode(*, caller: Caller, episode_id: UUID, now: datetime) -> Episode:
    """Likewise, locked until the open scope ends, to be changed; the person before the row, as every writer
    locks them. Raises Erased when the person was erased since `now`."""
    user_id = access_episode(caller=caller, episode_id=episode_id).user_id
    refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
    found = Episode.objects.select_for_update().filter(reach(caller), id=episode_id).first()
    if found is None:
        raise NotFound("There is no such episode.")
    return found


def list_episodes(
    *,
    caller: Caller,
    where: EpisodeFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
    oldest_first: bool = False,
    traits: EpisodeTraits = ANY_TRAITS,
) -> list[Episode]:
    """Episodes within the key's reach, newest first by default; `before`: continue after that one."""
    with scope(caller.tenant_id):
        found = Episode.objects.filter(
            querysets.matching(tenant_id=caller.tenant_id, where=confine(caller, where)),
            querysets.having(traits),
        )
        if before is not None:
            created_at, episode_id = before
            found = found.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=episode_id))
        order = ("created_at", "id") if oldest_first else ("-created_at", "-id")
        return list(found.order_by(*order)[:limit])


def is_kept_back(caller: Caller, episode: Episode) -> bool:
    """Whether it is a verbatim turn, and the caller is not shown conversations."""
    return episode.memory_type == MemoryType.MESSAGE and not caller.may_read_conversations


def reach(caller: Caller) -> Q:
    """The condition of the rows that the key reaches, without verbatim turns as above."""
    turns = Q() if caller.may_read_conversations else ~Q(memory_type=MemoryType.MESSAGE)
    return _bound(caller) & turns


def _readable(caller: Caller, types: tuple[str, ...]) -> tuple[str, ...]:
    """Of the types that are asked for, of all where none is, those that the caller is shown."""
    if caller.may_read_conversations:
        return types
    left = tuple(one for one in types or MemoryType.values if one != MemoryType.MESSAGE)
    if not left:
        raise Forbidden(KEPT_BACK)
    return left


def _bound(caller: Caller) -> Q:
    bound = {"user_id": caller.user_id, "agent_id": caller.agent_id, "project": caller.project}
    return Q(tenant_id=caller.tenant_id, **{name: value for name, value in bound.items() if value})
