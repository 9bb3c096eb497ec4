"""The records that were there before a call, and which of them are near to those that it brings."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic.likeness import nearest_to_each
from episodic.merging import is_mergeable
from episodic.models import Episode
from episodic.nearest import nearest_ids
from episodic.record_replacing import Given
from episodic.types import EpisodeFilter
from tenants.caller import Caller
from tenants.embedding import model_behind

NEIGHBOURS = 10  # that a new record is compared with
SPARE = 20  # more that are known of each, for those that are merged meanwhile


class StoredRecords:
    """`rows`: all that were looked at, locked, each once, so that what happens to one is seen by all; whoever
    adds records puts them there too. `changed`: those that say something else by now."""

    def __init__(self, *, caller: Caller, distance: float) -> None:
        self.rows: dict[UUID, Episode] = {}
        self.changed: set[UUID] = set()
        self._tenant_id, self._distance = caller.tenant_id, distance
        self._near: dict[int, list[UUID]] = {}

    def each_once(self, found: Iterable[Episode]) -> list[Episode]:
        """The same rows, as they are known if they are."""
        return [self.rows.setdefault(one.id, one) for one in found]

    def lock(self, ids: Collection[UUID]) -> list[Episode]:
        """Those of these that there are."""
        self._lock([one for one in ids if one not in self.rows])
        return [self.rows[one] for one in ids if one in self.rows]

    def compare(self, given: Sequence[Given | None]) -> None:
        """Finds out for all of these at once what is near to each. What this leaves out is looked for when it
        is asked about."""
        memories: dict[tuple[EpisodeFilter, str], list[tuple[int, NDArray[np.float32]]]] = defaultdict(list)
        for number, one in enumerate(given):
            if one is None or one.vector is None or self._distance <= 0 or not is_mergeable(one.episode):
                continue
            model = model_behind(one.vector, tenant_id=self._tenant_id)
            memories[memory_like(one.episode), model].append((number, one.vector))
        for (where, model), some in memories.items():
            found = nearest_to_each(
                tenant_id=self._tenant_id,
                model=model,
                vectors=np.stack([vector for _number, vector in some]),
                where=where,
                limit=NEIGHBOURS + SPARE,
            )
            for (number, _vector), cosines in zip(some, found or (), strict=False):
                self._near[number] = self._within(cosines)
        self._lock({one for ids in self._near.values() for one in ids[:NEIGHBOURS]} - self.rows.keys())

    def near(self, given: Given, number: int) -> list[Episode]:
        """What still says what it said, of those that are near to the record, the nearest first."""
        ids = self._near.get(number)
        if ids is None:
            return self._holding(self._asked(given))
        held = self._holding(ids[:NEIGHBOURS])
        if len(held) < min(len(ids), NEIGHBOURS):
            held = self._holding(ids)[:NEIGHBOURS]
        if len(held) < NEIGHBOURS and len(ids) == NEIGHBOURS + SPARE:  # there may be more behind these
            return self._holding(self._asked(given))
        return held

    def _asked(self, given: Given) -> list[UUID]:
        if given.vector is None:
            return []
        found = nearest_ids(
            tenant_id=self._tenant_id,
            model=model_behind(given.vector, tenant_id=self._tenant_id),
            vector=given.vector,
            where=memory_like(given.episode),
            limit=NEIGHBOURS,
        )
        return self._within(found)

    def _within(self, found: Mapping[UUID, float]) -> list[UUID]:
        return [one for one, cosine in found.items() if cosine >= 1 - self._distance]

    def _holding(self, ids: Sequence[UUID]) -> list[Episode]:
        rows = [one for one in self.lock(ids) if one.id not in self.changed]
        return [one for one in rows if one.valid_to is None]

    def _lock(self, ids: Collection[UUID]) -> None:
        if ids:
            rows = Episode.objects.select_for_update(no_key=True).filter(
                tenant_id=self._tenant_id, id__in=ids
            )
            self.each_once(rows.order_by("id"))


def memory_like(episode: Episode) -> EpisodeFilter:
    """Where it can be merged with others."""
    return EpisodeFilter(
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        project=episode.project,
        namespace=episode.namespace,
        memory_types=(episode.memory_type,),
    )
