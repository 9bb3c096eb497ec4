"""What webhooks are told of episodes and slots, in the scope of what happens to them.

The turns of a session that are indexed one by one are told of neither when they come nor when they go: they
are copies of the log of events.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from urllib.parse import quote
from uuid import UUID

from episodic.models import ITEM, Entity, Episode, MemoryType, Origin
from episodic.slots import slot_text
from webhooks.announcing import announce
from webhooks.models import Event, Kind
from webhooks.types import Memory

TOGETHER = 500  # ids that one event tells


def tell_episode(episode: Episode, event: Event) -> None:
    """Tells of one episode."""
    tell_episodes([episode], event)


def tell_episodes(episodes: Sequence[Episode], event: Event) -> None:
    """Likewise of several of one tenant, each in an event of its own."""
    if episodes:
        tenant_id = episodes[0].tenant_id
        announce(tenant_id=tenant_id, event=event, memories=lambda: _untold_turns(episodes))


def tell_closed(*, tenant_id: UUID, ids: Collection[UUID]) -> None:
    """Tells that these episodes hold no more."""

    def rows() -> Iterable[Memory]:
        return _untold_turns(Episode.objects.filter(tenant_id=tenant_id, id__in=ids))

    announce(tenant_id=tenant_id, event=Event.RETRACTED, memories=rows)


def tell_expired(*, tenant_id: UUID, groups: Collection[dict[str, Any]]) -> None:
    """Tells that episodes are gone, many in one event: each group has `ids` of one user, agent, project and
    session."""
    told = (
        Memory(
            kind=Kind.EPISODE,
            id="",
            ids=tuple(group["ids"][begin : begin + TOGETHER]),
            user_id=group["user_id"],
            agent_id=group["agent_id"],
            project=group["project"],
            session_id=group["session"],
        )
        for group in groups
        for begin in range(0, len(group["ids"]), TOGETHER)
    )
    announce(tenant_id=tenant_id, event=Event.ERASED, memories=told)


def tell_slot(row: Entity, event: Event) -> None:
    """Tells of one value of a slot."""
    tell_slots(row.tenant_id, [row], event)


def tell_slots(tenant_id: UUID, rows: Collection[Entity], event: Event) -> None:
    """Likewise of many."""
    announce(tenant_id=tenant_id, event=event, memories=lambda: map(_slot, rows))


def _untold_turns(episodes: Iterable[Episode]) -> Iterable[Memory]:
    return (_episode(one) for one in episodes if not _is_turn(one))


def _is_turn(episode: Episode) -> bool:
    return episode.memory_type == MemoryType.MESSAGE and episode.origin == Origin.SESSION


def _episode(one: Episode) -> Memory:
    return Memory(
        kind=Kind.EPISODE,
        id=str(one.id),
        user_id=one.user_id,
        agent_id=one.agent_id,
        project=one.project,
        session_id=one.session,
        url=f"/api/v1/episodes/{one.id}",
        text=one.text,
        names=_names(one),
    )


def _names(one: Episode) -> tuple[str, ...]:
    """Of what says an item of nobody's: the labels of the item's namespace, which may be a person's id."""
    is_nobodys_item = not one.user_id and (one.extraction or {}).get("strategy") == ITEM
    return tuple(one.metadata["namespace"]) if is_nobodys_item else ()


def _slot(row: Entity) -> Memory:
    return Memory(
        kind=Kind.ENTITY,
        id=str(row.id),
        user_id=row.user_id,
        agent_id=row.agent_id,
        session_id=row.source_session,
        url=f"/api/v1/entities/{quote(row.user_id, safe='')}/{quote(row.key, safe='')}",
        text=slot_text(row.key, row.value),
    )
