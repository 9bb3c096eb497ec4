"""Slots read: what holds now, what held at a moment, a slot's history, and what is nearest to a question."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from django.db.models import F, Q
from django.db.models.lookups import IsNull
from numpy.typing import NDArray

from episodic import slot_queries
from episodic.models import Entity, SlotStatus
from episodic.slots import EntityFilter, slot_key
from tenants.caller import Caller
from tenants.embedding import embed_query, model_behind
from tenants.errors import Invalid, NotFound
from tenants.scope import scope

Position = tuple[datetime, UUID]


def list_entities(
    *, caller: Caller, where: EntityFilter, limit: int, before: Position | None = None
) -> list[Entity]:
    """Slots within the key's reach, those written last first; `before`: continue after that one."""
    where = _confined(caller, where)
    with scope(caller.tenant_id):
        found = slot_queries.matching(tenant_id=caller.tenant_id, where=where)
        if before is not None:
            at, entity_id = before
            found = found.filter(Q(updated_at__lt=at) | Q(updated_at=at, id__lt=entity_id))
        return list(found.order_by("-updated_at", "-id")[:limit])


def access_entity(*, caller: Caller, user_id: str, key: str, as_of: datetime | None = None) -> Entity:
    """What the slot holds, or held at that moment. Raises NotFound, also while a value only waits."""
    where = _confined(caller, EntityFilter(user_id=user_id, key=key, as_of=as_of))
    with scope(caller.tenant_id):
        found = slot_queries.matching(tenant_id=caller.tenant_id, where=where)
        entity = found.order_by("-valid_from", "-id").first()
    if entity is None:
        raise NotFound("There is no such slot.")
    return entity


def list_history(
    *, caller: Caller, user_id: str, key: str, limit: int, before: Position | None = None
) -> list[Entity]:
    """Every value that a slot held or that waited in it, the latest first; one that held at no moment ends
    when it begins. Raises NotFound for a slot that never was."""
    user_id, key = caller.confine_user(user_id), slot_key(key)
    with scope(caller.tenant_id):
        rows = slot_queries.slot(tenant_id=caller.tenant_id, user_id=user_id, key=key)
        if before is not None:
            at, entity_id = before
            rows = rows.filter(Q(valid_from__lt=at) | Q(valid_from=at, id__lt=entity_id))
        found = list(rows.order_by("-valid_from", "-id")[:limit])
    if not found and before is None:
        raise NotFound("There is no such slot.")
    return found


def current_slots(*, caller: Caller, user_id: str, limit: int = 200) -> list[Entity]:
    """What holds of a user now, in the same order each time: pinned slots first, then by key."""
    user_id = caller.confine_user(user_id)
    if not user_id:
        return []
    with scope(caller.tenant_id):
        mine = Entity.objects.filter(tenant_id=caller.tenant_id, user_id=user_id, status=SlotStatus.CURRENT)
        return list(mine.order_by(IsNull(F("pinned_at"), True), "key")[:limit])


def nearest_slots(
    *, caller: Caller, user_id: str, vector: NDArray[np.float32], limit: int
) -> list[tuple[Entity, float]]:
    """The user's current slots nearest to `vector`, shape (dimensions,), with their cosines, best first. Each
    is compared; one that has no vector yet is not found."""
    where = EntityFilter(user_id=caller.confine_user(user_id))
    if not where.user_id:
        return []
    return _nearest(caller, where, vector, limit)


def search_entities(
    *, caller: Caller, where: EntityFilter, query: str, limit: int
) -> list[tuple[Entity, float]]:
    """The slots of one user whose `key: value` comes nearest to the query, with their cosines. Raises Invalid
    without a user, and for history, which has no vectors; Unavailable when the embedding model is away."""
    where = _confined(caller, where)
    if not where.user_id:
        raise Invalid("Name the user whose slots are searched.", "user_id")
    if where.as_of is not None:
        raise Invalid("Only what holds now can be searched, or waits.", "as_of")
    if where.status not in (None, *slot_queries.STANDS):
        raise Invalid("Only what is current or pending can be searched.", "status")
    return _nearest(caller, where, embed_query(query, tenant_id=caller.tenant_id), limit)


def _nearest(
    caller: Caller, where: EntityFilter, vector: NDArray[np.float32], limit: int
) -> list[tuple[Entity, float]]:
    with scope(caller.tenant_id):
        return slot_queries.nearest(
            tenant_id=caller.tenant_id,
            where=where,
            model=model_behind(vector, tenant_id=caller.tenant_id),
            query=vector,
            limit=limit,
        )


def _confined(caller: Caller, where: EntityFilter) -> EntityFilter:
    """The filter within the key's reach, with the key as it is stored. Raises Forbidden, Invalid."""
    if where.status is not None and where.status not in SlotStatus.values:
        raise Invalid(f"Must be one of {', '.join(SlotStatus.values)}.", "status")
    return replace(
        where,
        user_id=caller.confine_user(where.user_id) or None,
        key=None if where.key is None else slot_key(where.key),
        as_of=None if where.as_of is None else _in_utc(where.as_of),
    )


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise Invalid("Must name its time zone.", "as_of")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise Invalid("Must be a moment in the years 1 to 9999.", "as_of") from error
