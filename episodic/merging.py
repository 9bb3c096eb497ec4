"""Records that say the same become one, which can be undone: the sources are closed, never changed.

One is made of several only where the fullest of them says all that the others say (`episodic.cohesion`): it
keeps that one's words, and has the topics and entities of all. What it was made of stands in its `extraction`
under `merged`; what somebody has taken apart again stands under `apart` in each of its sources, and is not
merged once more.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.access import vectors_of
from episodic.announcements import tell_episode, tell_episodes
from episodic.cohesion import says_all
from episodic.duplicates import record_hash
from episodic.indexing import index_again
from episodic.models import (
    ITEM,
    Episode,
    EpisodeAccess,
    EpisodeEmbedding,
    EpisodeWords,
    Item,
    MemoryType,
    Origin,
)
from episodic.superseding import close
from tenants.caller import Caller
from tenants.ulids import new_ulid
from webhooks.models import Event

MERGED, APART = "merged", "apart"
# Strategies whose records say what others say by design: of a whole session, or by a name of their own.
ALONE = ("summary", ITEM)
PLACE = ("tenant_id", "user_id", "agent_id", "project", "namespace", "memory_type")


@dataclass(frozen=True, slots=True)
class Entry:
    """A record, stored or about to be, with its vector if that is known."""

    episode: Episode
    vector: NDArray[np.float32] | None


def strategy_of(episode: Episode) -> str:
    """How the record came about."""
    return str((episode.extraction or {}).get("strategy", "discrete"))


def stands_alone(episode: Episode) -> bool:
    """Whether it stays beside whatever says the same."""
    return strategy_of(episode) in ALONE


def merged_ids(episode: Episode) -> list[UUID]:
    """The ids of what it was made of; empty for what is no merged record."""
    return [UUID(one) for one in (episode.extraction or {}).get(MERGED, [])]


def is_mergeable(episode: Episode) -> bool:
    """Whether it may become part of another: a saved record that holds, and no turn, summary or item."""
    return (
        episode.valid_to is None
        and episode.origin == Origin.SAVED
        and episode.memory_type != MemoryType.MESSAGE
        and not stands_alone(episode)
    )


def covers(fuller: Episode, other: Episode) -> bool:
    """Whether the first says all that the second says, of the same memory, moment and things, and nobody has
    taken them apart before."""
    return (
        all(getattr(fuller, name) == getattr(other, name) for name in PLACE)
        and is_mergeable(fuller)
        and is_mergeable(other)
        and _are_of_one_moment(fuller, other)
        and _are_of_the_same(fuller.entities, other.entities)
        and _apart(fuller).isdisjoint(_apart(other))
        and says_all(fuller.text, other.text)
    )


def merge(*, fullest: Entry, others: Sequence[Entry], now: datetime) -> Entry:
    """The unsaved record that says what they all say, from `now` on. They are not closed yet."""
    full, sources = fullest.episode, [fullest.episode, *(one.episode for one in others)]
    oldest = min(sources, key=lambda one: one.created_at)
    pins = [one.pinned_at for one in sources if one.pinned_at is not None]
    merged = Episode(
        **{name: getattr(full, name) for name in PLACE},
        session=oldest.session,
        external_id=new_ulid(),
        origin=Origin.SAVED,
        text=full.text,
        content_hash=full.content_hash,
        topics=_united(one.topics for one in sources),
        entities=_united(one.entities for one in sources),
        outcome=full.outcome,
        event_date=next((one.event_date for one in sources if one.event_date), None),
        valid_from=now,
        metadata={name: value for one in reversed(sources) for name, value in one.metadata.items()},
        pinned_at=min(pins, default=None),
        extraction=_extraction(sources),
        created_at=oldest.created_at,
        persisted_at=now,
    )
    return Entry(merged, fullest.vector)


def take_in(merged: Episode, others: Sequence[Episode], now: datetime) -> None:
    """Has a merged record, locked or unsaved, say also what the others say, which it covers; they are closed
    by it. Whoever calls saves all."""
    sources = [merged, *others]
    for one in others:
        close_unsaved(one, by=merged, now=now)
        say_beside(merged, one)
    merged.created_at = min(one.created_at for one in sources)
    ids = [*merged_ids(merged), *(one.id for one in others)]
    merged.extraction = _extraction(sources) | {MERGED: [str(one) for one in ids]}


def say_beside(one: Episode, other: Episode) -> list[str]:
    """Has the first stand for the second as well with what it has beside its text, of which it loses nothing;
    the columns that say something else by now."""
    wanted = {
        "topics": _united([one.topics, other.topics]),
        "entities": _united([one.entities, other.entities]),
        "metadata": other.metadata | one.metadata,
        "event_date": one.event_date or other.event_date,
        "pinned_at": one.pinned_at or other.pinned_at,
    }
    changed = [name for name, value in wanted.items() if value != getattr(one, name)]
    for name in changed:
        setattr(one, name, wanted[name])
    return changed


def keep_taken_in(merged: Episode) -> None:
    """Saves what it has taken in, in the open scope, with it locked."""
    merged.version += 1
    columns = ["topics", "entities", "metadata", "event_date", "pinned_at", "created_at", "extraction"]
    merged.save(update_fields=[*columns, "version"])
    index_again(merged)
    tell_episode(merged, Event.UPDATED)


def united_access(
    tenant_id: UUID, ids: Sequence[UUID], others: Sequence[tuple[datetime, int]] = ()
) -> tuple[datetime, int] | None:
    """When one of the records was used last, and how often all were, with the `others`; None if never. In the
    open scope."""
    rows = EpisodeAccess.objects.filter(tenant_id=tenant_id, id__in=ids)
    used = [*rows.values_list("last_accessed_at", "access_count"), *others]
    return (max(last for last, _count in used), sum(count for _last, count in used)) if used else None


def stored_vectors(caller: Caller, ids: Collection[UUID]) -> dict[UUID, NDArray[np.float32]]:
    """The vectors of those that have one, each of shape (dimensions,). In the open scope."""
    found = vectors_of(caller=caller, ids=ids)
    return {one: np.asarray(vector, dtype=np.float32) for one, vector in found.items()}


def with_sources(episode: Episode) -> Iterator[Episode]:
    """The record, and what it has taken the place of since it says the same, locked; in the open scope."""
    yield episode
    replaced = Episode.objects.select_for_update().filter(
        tenant_id=episode.tenant_id, superseded_by=episode.id
    )
    merged = set(merged_ids(episode))
    for one in replaced.order_by("id"):
        if one.id in merged or is_same_record(one, episode):
            yield from with_sources(one)


def close_unsaved(source: Episode, *, by: Episode, now: datetime) -> None:
    """It will be stored as one that holds no more: for whoever undoes the merge."""
    source.valid_to, source.superseded_by = now, by.id


def says_now(episode: Episode, known: Mapping[UUID, Episode] = MappingProxyType({})) -> Episode | None:
    """What holds and says what the record said: itself, or what it became part of; None if nothing does. In
    the open scope; `known` are those that are not stored yet."""
    while episode.valid_to is not None:
        if episode.superseded_by is None:
            return None
        mine = Episode.objects.filter(tenant_id=episode.tenant_id, id=episode.superseded_by)
        later = known.get(episode.superseded_by) or mine.first()
        if later is None or not (episode.id in merged_ids(later) or is_same_record(episode, later)):
            return None
        episode = later
    return episode


def is_same_record(one: Episode, other: Episode) -> bool:
    """Whether one of the two is enough: they say the same, word for word, in the same memory and session."""
    places = ((row.agent_id, row.project) for row in (one, other))
    return len(set(places)) == 1 and record_hash(one) == record_hash(other)


def undo(merged: Episode, *, now: datetime) -> list[Episode]:
    """Has the sources of the locked record that it still stands for hold again, and closes it, in the open
    scope; the sources."""
    mine = Episode.objects.filter(
        tenant_id=merged.tenant_id, superseded_by=merged.id, id__in=merged_ids(merged)
    )
    sources = list(mine.select_for_update(no_key=True).order_by("id"))
    for one in sources:
        one.extraction = (one.extraction or {}) | {APART: sorted(_apart(one) | {str(merged.id)})}
        one.valid_to = one.superseded_by = None
        one.version += 1
        one.save(update_fields=["extraction", "valid_to", "superseded_by", "version"])
        open_again(one)
    close(Episode.objects.filter(tenant_id=merged.tenant_id, id=merged.id), at=now)
    return sources


def open_again(*episodes: Episode) -> None:
    """Has what stands beside episodes of one tenant that hold again found, and tells of each, in the open
    scope."""
    if not episodes:
        return
    tenant_id, ids = episodes[0].tenant_id, [one.id for one in episodes]
    EpisodeEmbedding.objects.filter(tenant_id=tenant_id, episode_id__in=ids).update(valid_to=None)
    EpisodeWords.objects.filter(tenant_id=tenant_id, id__in=ids).update(valid_to=None)
    Item.objects.filter(tenant_id=tenant_id, id__in=ids).update(valid_to=None)
    tell_episodes(episodes, Event.CREATED)


def together(entries: Iterable[Entry]) -> list[Entry]:
    """Of these, without those that somebody has taken apart from one before them."""
    chosen: list[Entry] = []
    apart: set[str] = set()
    for one in entries:
        if apart.isdisjoint(_apart(one.episode)):
            chosen.append(one)
            apart |= _apart(one.episode)
    return chosen


def _extraction(sources: Sequence[Episode]) -> dict[str, Any]:
    """As the first came about, from all that they came from; apart from what one of them is apart from."""
    known = [one.extraction or {} for one in sources]
    apart = set[str]().union(*map(_apart, sources))
    return {
        "strategy": strategy_of(sources[0]),
        "config": known[0].get("config", {}),
        "from": _united(one.get("from", []) for one in known),
        "done": "t",
        MERGED: [str(one.id) for one in sources],
    } | ({APART: sorted(apart)} if apart else {})


def _united(lists: Iterable[Sequence[str]]) -> list[str]:
    """Each once, in the order in which they come."""
    return list(dict.fromkeys(item for items in lists for item in items))


def _are_of_one_moment(one: Episode, other: Episode) -> bool:
    """What happened is the same only if it happened at once; of what holds, one may not say since when."""
    moments = {one.event_date, other.event_date}
    return len(moments) == 1 or (None in moments and one.memory_type == MemoryType.SEMANTIC)


def _are_of_the_same(one: Collection[str], other: Collection[str]) -> bool:
    """Whether they may be about the same things: unless each names some that the other does not."""
    names, others = ({name.casefold() for name in names} for names in (one, other))
    return names <= others or others <= names


def _apart(episode: Episode) -> set[str]:
    return set((episode.extraction or {}).get(APART, []))
