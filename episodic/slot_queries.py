"""The SQL of slots: locks, what stands in one, what held at a moment, exact nearest neighbours."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import F, Max, Q, QuerySet
from numpy.typing import NDArray

from episodic.models import Entity, SlotStatus
from episodic.slots import EntityFilter
from tenants.embedding import vector_literal

LOCK = "SELECT pg_advisory_xact_lock(%s)"
STANDS = (SlotStatus.CURRENT, SlotStatus.PENDING)

# What is closed is not searched any more: its vectors go in the same round trip.
CLOSE = """
WITH vectors AS (DELETE FROM entity_embeddings WHERE tenant_id = %(tenant)s AND entity_id = %(id)s)
UPDATE user_entities SET status = %(status)s, valid_to = %(to)s, superseded_by = %(by)s, embed_pending = false
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Every vector of the user is compared: asking for k where k match always answers k.
NEAREST = """
SELECT entity_id, embedding <=> %(query)s::vector AS distance FROM entity_embeddings
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND model = %(model)s
      AND entity_id = ANY (ARRAY(SELECT id FROM user_entities
                                 WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND status = %(status)s
                                       AND (%(key)s::text IS NULL OR key = %(key)s)))
ORDER BY distance, entity_id
LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a slot holds and what waits for it; `same_…`: whether either says what is about to be written."""

    current: Entity | None
    pending: Entity | None
    same_current: bool
    same_pending: bool


def lock_user(*, tenant_id: UUID, user_id: str) -> None:
    """Waits, in the open scope, for whoever writes a slot of the same user: reading what stands, counting the
    slots and the write that follows are then one step. Asked for after the lock of `refuse_erased`: who holds
    this one and waits for that would wait for those who hold that one and wait for this."""
    digest = hashlib.sha256(b"slots\x00" + tenant_id.bytes + user_id.encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [int.from_bytes(digest[:8], signed=True)])


def slot(*, tenant_id: UUID, user_id: str, key: str) -> QuerySet[Entity]:
    """All rows of a slot."""
    return Entity.objects.filter(tenant_id=tenant_id, user_id=user_id, key=key)


def standing(*, tenant_id: UUID, user_id: str, key: str, value: Any) -> Standing:
    """What stands in the slot, compared with `value` as JSON: PostgreSQL tells 1 from true, and 1 not from
    1.0, as Python does not."""
    rows = slot(tenant_id=tenant_id, user_id=user_id, key=key).filter(status__in=STANDS)
    found = {row.status: row for row in rows.annotate(is_same=Q(value=value))}
    current, pending = found.get(SlotStatus.CURRENT), found.get(SlotStatus.PENDING)
    return Standing(
        current,
        pending,
        same_current=current is not None and current.is_same,
        same_pending=pending is not None and pending.is_same,
    )


def store_closed(row: Entity) -> None:
    """Stores that the row ceased to hold, and removes what makes it found."""
    params: dict[str, Any] = {
        "tenant": row.tenant_id,
        "id": row.id,
        "status": row.status,
        "to": row.valid_to,
        "by": row.superseded_by,
    }
    with connection.cursor() as cursor:
        cursor.execute(CLOSE, params)


def count_slots(*, tenant_id: UUID, user_id: str) -> int:
    """The user's slots in which something stands."""
    mine = Entity.objects.filter(tenant_id=tenant_id, user_id=user_id, status__in=STANDS)
    return mine.values("key").distinct().count()


def last_end(*, tenant_id: UUID, user_id: str, key: str) -> datetime | None:
    """When what held last in the slot ceased to."""
    rows = held(slot(tenant_id=tenant_id, user_id=user_id, key=key))
    end: datetime | None = rows.aggregate(end=Max("valid_to"))["end"]
    return end


def held(rows: QuerySet[Entity]) -> QuerySet[Entity]:
    """Without what only waited: that held at no moment."""
    ever = Q(valid_to=None) | Q(valid_to__gt=F("valid_from"))
    return rows.filter(ever).exclude(status=SlotStatus.PENDING)


def holding(rows: QuerySet[Entity], moment: datetime) -> QuerySet[Entity]:
    """Those that held at the moment."""
    return held(rows).filter(Q(valid_to=None) | Q(valid_to__gt=moment), valid_from__lte=moment)


def matching(*, tenant_id: UUID, where: EntityFilter) -> QuerySet[Entity]:
    """The rows that the filter admits; its key is one."""
    names = {"user_id": where.user_id, "key": where.key, "status": where.status}
    rows = Entity.objects.filter(
        tenant_id=tenant_id, **{name: value for name, value in names.items() if value is not None}
    )
    if where.as_of is not None:
        return holding(rows, where.as_of)
    return rows if where.status else rows.filter(status=SlotStatus.CURRENT)


def nearest(
    *,
    tenant_id: UUID,
    where: EntityFilter,
    model: str,
    query: NDArray[np.float32],
    limit: int,
) -> list[tuple[Entity, float]]:
    """The `limit` slots of a user nearest to `query`, shape (dimensions,), by `model`, with their cosines;
    best first."""
    params = {
        "tenant": tenant_id,
        "user": where.user_id,
        "status": where.status or SlotStatus.CURRENT,
        "key": where.key,
        "model": model,
        "query": vector_literal(query),
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEAREST, params)
        ranked = cursor.fetchall()
    found = _by_id(tenant_id, [entity_id for entity_id, _distance in ranked])
    # One that was deleted since the ranking is left out.
    return [(found[one], 1 - float(distance)) for one, distance in ranked if one in found]


def _by_id(tenant_id: UUID, ids: Sequence[UUID]) -> dict[UUID, Entity]:
    return {row.id: row for row in Entity.objects.filter(tenant_id=tenant_id, id__in=ids)}
