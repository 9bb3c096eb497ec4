"""Which slots are told of a user who has more of them than are told at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Length, Replace
from numpy.typing import NDArray

from episodic.entity_reading import current_slots, nearest_slots
from episodic.models import Entity, SlotStatus
from episodic.slot_words import Named
from tenants.caller import Caller
from tenants.errors import Unavailable
from tenants.scope import scope

MOST_SLOTS = 200  # told at once
LOOKED_AT = 1_000  # slots whose keys may be named; the shortest of them


@dataclass(frozen=True, slots=True)
class ChosenSlots:
    """The slots that are told, and how many hold beside them."""

    slots: tuple[Entity, ...]
    left_out: int = 0


def choose_slots(
    *,
    caller: Caller,
    user_id: str,
    query: str = "",
    embedding: Callable[[], NDArray[np.float32]] | None = None,
    limit: int = MOST_SLOTS,
) -> ChosenSlots:
    """What holds of a user: all of it, pinned slots first, then by key, if that is no more than `limit`.

    Of more, those come first whose key the query names, then those nearest to it (`embedding` waits for its
    vector), then pinned ones, then what was written last. The first two kinds have a quarter of the places
    each, if there are as many; with the embedding model away there are none of the second. Never inside a
    scope: the model may take its time.
    """
    every = current_slots(caller=caller, user_id=user_id, limit=limit + 1)
    if len(every) <= limit:
        return ChosenSlots(tuple(every))
    user_id = every[0].user_id
    nearest = _nearest(caller, user_id, embedding, limit) if embedding else []
    with scope(caller.tenant_id):
        mine = Entity.objects.filter(tenant_id=caller.tenant_id, user_id=user_id, status=SlotStatus.CURRENT)
        named = _named(mine, query)
        pinned = mine.filter(pinned_at__isnull=False).order_by("key")[:limit]
        share = limit // 4
        chosen = {one.id: one for one in (*named[:share], *nearest[:share], *pinned, *nearest)}
        if len(chosen) < limit:
            chosen |= {one.id: one for one in mine.order_by("-updated_at", "-id")[:limit]}
        count = mine.count()
    slots = tuple(chosen.values())[:limit]
    return ChosenSlots(slots, max(count - len(slots), 0))


def _nearest(
    caller: Caller, user_id: str, embedding: Callable[[], NDArray[np.float32]], limit: int
) -> list[Entity]:
    try:
        found = nearest_slots(caller=caller, user_id=user_id, vector=embedding(), limit=limit)
    except Unavailable:  # of the model, or their vectors do not come in time
        return []
    return [entity for entity, _cosine in found]


def _named(mine: QuerySet[Entity], query: str) -> list[Entity]:
    """The slots whose key the query names, those first of whose key it holds the most. In the open scope."""
    named = Named(query)
    if not named.parts:
        return []
    holds = _any(Q(compact__contains=part) | Q(key__contains=part) for part in named.parts)
    compact = mine.annotate(compact=Replace(F("key"), Value("_"), Value("")))
    rows = compact.filter(holds).order_by(Length("key"), "key")[:LOOKED_AT]
    ranked = sorted(((named.share_of(row.key), row) for row in rows), key=lambda one: (-one[0], one[1].key))
    return [row for share, row in ranked if share]


def _any(conditions: Iterable[Q]) -> Q:
    whole = Q()
    for one in conditions:
        whole |= one
    return whole
