"""When episodes were last recalled, and how often."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic import access_queries
from episodic.access_log import APART, AccessLog
from episodic.access_queries import Used
from episodic.episodes import ANY_TRAITS, access_episode, confine, list_episodes
from episodic.models import Episode, EpisodeAccess, EpisodeEmbedding
from episodic.types import EpisodeFilter, EpisodeTraits
from tenants.caller import Caller
from tenants.embedding import model_behind
from tenants.generations import model_of
from tenants.scope import rehearses, scope


@dataclass(frozen=True, slots=True)
class Access:
    """How an episode was used. Accesses less than 900 seconds after one that was counted are not counted."""

    last_accessed_at: datetime | None = None  # None: never
    access_count: int = 0


@dataclass(frozen=True, slots=True)
class ReadEpisode:
    """An episode as it is read: with how it was used."""

    episode: Episode
    used: Access

    @property
    def id(self) -> UUID:
        return self.episode.id


def note_access(*, caller: Caller, ids: Iterable[UUID], now: datetime) -> None:
    """The episodes were told to somebody. Nothing is written here: it is within seconds."""
    if not rehearses():
        _log.add(caller.tenant_id, ids, now)


def flush() -> None:
    """Writes what this process has noted, at once. Raises Error, and keeps what is left."""
    _log.flush()


def access_of(*, caller: Caller, ids: Collection[UUID]) -> dict[UUID, Access]:
    """Of each of these episodes, which the caller may see."""
    with scope(caller.tenant_id):
        mine = EpisodeAccess.objects.filter(tenant_id=caller.tenant_id, id__in=ids)
        found = mine.values_list("id", "last_accessed_at", "access_count")
        known = {one: Access(last, count) for one, last, count in found}
    return {one: known.get(one, Access()) for one in ids}


def read_episode(*, caller: Caller, episode_id: UUID) -> ReadEpisode:
    """As `episodes.access_episode` does."""
    with scope(caller.tenant_id):
        return _with_use(caller, [access_episode(caller=caller, episode_id=episode_id)])[0]


def read_episodes(
    *,
    caller: Caller,
    where: EpisodeFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
    traits: EpisodeTraits = ANY_TRAITS,
) -> list[ReadEpisode]:
    """As `episodes.list_episodes` does, newest first."""
    with scope(caller.tenant_id):
        found = list_episodes(caller=caller, where=where, limit=limit, before=before, traits=traits)
        return _with_use(caller, found)


def last_accessed(*, caller: Caller, where: EpisodeFilter, limit: int) -> list[UUID]:
    """The ids of the episodes that were recalled last, of those that `where` admits but for its times."""
    where = replace(confine(caller, where), since=None, until=None).narrowed()
    with scope(caller.tenant_id):
        return access_queries.last_used(tenant_id=caller.tenant_id, where=where, limit=limit)


def uses_of(
    *, caller: Caller, ids: Sequence[UUID], vector: NDArray[np.float32], with_accesses: bool = True
) -> list[Used]:
    """What a ranking by recency looks at in the episodes, chosen from candidates, that have a vector. Without
    accesses it is as if there had been none."""
    with scope(caller.tenant_id):
        return access_queries.uses(
            tenant_id=caller.tenant_id,
            ids=ids,
            query=vector,
            model=model_behind(vector, tenant_id=caller.tenant_id),
            with_accesses=with_accesses,
        )


def vectors_of(*, caller: Caller, ids: Collection[UUID]) -> dict[UUID, NDArray[np.float32]]:
    """The vectors of the episodes, chosen from candidates, that have one."""
    model = model_of(caller.tenant_id)
    with scope(caller.tenant_id):
        mine = EpisodeEmbedding.objects.filter(tenant_id=caller.tenant_id, episode_id__in=ids, model=model)
        return dict(mine.values_list("episode_id", "embedding"))


def _with_use(caller: Caller, episodes: Sequence[Episode]) -> list[ReadEpisode]:
    used = access_of(caller=caller, ids=[one.id for one in episodes])
    return [ReadEpisode(one, used[one.id]) for one in episodes]


def _write(tenant_id: UUID, accesses: Mapping[UUID, datetime]) -> None:
    with scope(tenant_id):
        access_queries.note(tenant_id=tenant_id, accesses=accesses, apart=APART)


_log = AccessLog(_write)
_log.register()
