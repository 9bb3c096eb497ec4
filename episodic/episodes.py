"""Storing and listing episodes."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from episodic import querysets
from episodic.embedding import vector_of
from episodic.metrics import counted_write
from episodic.models import Episode
from episodic.types import EpisodeFilter, NewEpisode
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import TooLarge
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased


def store_episode(*, caller: Caller, new: NewEpisode, now: datetime) -> Episode:
    """Stores an episode with its vector; without one when the model does not answer, to be embedded later.

    Raises Forbidden when `new` names another user, agent or project than the key is bound to, TooLarge when
    its text is longer than the policy's `limits.episode_chars`.
    """
    episode = build_episode(caller=caller, new=new, now=now)
    longest = read_policy(tenant_id=caller.tenant_id, agent_id=episode.agent_id).limits.episode_chars
    if len(episode.text) > longest:
        raise TooLarge(f"The text exceeds {longest} characters.")
    vectors = try_embed([episode.text], tenant_id=caller.tenant_id)
    episode.embed_pending = vectors is None
    with counted_write(embedded=vectors is not None), scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=episode.user_id, since=now)
        episode.save(force_insert=True)
        if vectors is not None:
            vector_of(episode, vectors[0]).save(force_insert=True)
        idempotency.keep(episode, user_id=episode.user_id)
    return episode


def build_episode(*, caller: Caller, new: NewEpisode, now: datetime) -> Episode:
    """The unsaved episode, confined to what the key reaches."""
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
        topics=list(new.topics),
        entities=list(new.entities),
        outcome=new.outcome,
        key_decisions=new.key_decisions,
        entities_mentioned=new.entities_mentioned,
        tools_called=new.tools_called,
        covers_turns=list(new.covers_turns) if new.covers_turns else None,
        event_date=new.event_date,
        metadata=new.metadata,
        created_at=now,
    )


def confine(caller: Caller, where: EpisodeFilter) -> EpisodeFilter:
    """The filter with what the key is bound to filled in. Raises Forbidden when it asks for another's."""
    return EpisodeFilter(
        user_id=caller.confine_user(where.user_id) or None,
        agent_id=caller.confine_agent(where.agent_id) or None,
        project=caller.confine_project(where.project) or None,
        session_id=where.session_id,
        namespace=where.namespace,
        memory_types=where.memory_types,
        topics=where.topics,
        since=where.since,
        until=where.until,
    )


def list_episodes(
    *,
    caller: Caller,
    where: EpisodeFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
    oldest_first: bool = False,
) -> list[Episode]:
    """Episodes within the key's reach, newest first by default; `before`: continue after that one."""
    with scope(caller.tenant_id):
        found = Episode.objects.filter(
            querysets.matching(tenant_id=caller.tenant_id, where=confine(caller, where))
        )
        if before is not None:
            created_at, episode_id = before
            found = found.filter(Q(created_at__lt=created_at) | Q(created_at=created_at, id__lt=episode_id))
        order = ("created_at", "id") if oldest_first else ("-created_at", "-id")
        return list(found.order_by(*order)[:limit])
