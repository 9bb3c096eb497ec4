"""What is remembered of a person, across kinds."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from episodic.models import Entity, Episode, SlotStatus
from episodic.privacy import episodes_kept_under
from episodic.slots import slot_text
from observations.models import Observation
from tenants.caller import Caller
from tenants.errors import Invalid, NotFound
from tenants.scope import restricted_shown, scope
from tenants.subjects import confine

MemoryKind = Literal["entity", "episode", "observation"]
KINDS: tuple[MemoryKind, ...] = get_args(MemoryKind)
Row = Episode | Entity | Observation
LARGEST_NUMBER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where a list of memories goes on: after the memory that this is of."""

    created_at: datetime
    kind: MemoryKind
    id: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory. `session` and `agent` are those that it comes from, empty where there is none; `key` is a
    slot's. `status` is `current`, or `pending` of what waits to be confirmed. What `is_kept_under` the
    person's name in the store is nobody's."""

    kind: MemoryKind
    id: str
    text: str
    created_at: datetime
    updated_at: datetime
    session: str
    agent: str
    is_pinned: bool
    status: str
    key: str = ""
    is_kept_under: bool = False

    @property
    def place(self) -> Place:
        return Place(self.created_at, self.kind, self.id)


def list_memories(
    *,
    caller: Caller,
    user_id: str,
    kinds: Collection[str] | None = None,
    limit: int,
    before: Place | None = None,
) -> list[Remembered]:
    """What holds of the person, or waits, newest first; `before`: continue after that one. No kinds: all.

    Reads at most `limit` rows of each kind by the person's own index, and all store items of nobody's for
    those that are kept under the person's name. Raises Forbidden when the key does not reach all of the
    person's memory, Invalid for an unknown kind.
    """
    confine_person(caller, user_id)
    wanted = [checked_kind(kind) for kind in kinds] if kinds else KINDS
    with restricted_shown(), scope(caller.tenant_id):
        found = [
            show(row)
            for kind in wanted
            for rows in current(caller, user_id, kind)
            for row in _page(rows, kind, limit, before)
        ]
    return sorted(found, key=_order, reverse=True)[:limit]


def confine_person(caller: Caller, user_id: str) -> None:
    """Raises Forbidden as above, Invalid for nobody."""
    if not user_id:
        raise Invalid("Names nobody.", "user_id")
    confine(caller, user_id)


def checked_kind(kind: str) -> MemoryKind:
    """Raises Invalid for what is none."""
    for known in KINDS:
        if kind == known:
            return known
    raise Invalid(f"Must be one of {', '.join(KINDS)}.", "kind")


def access_memory(*, caller: Caller, user_id: str, kind: str, memory_id: str) -> Row:
    """The person's memory, if it holds or waits. Raises NotFound, also for another's."""
    confine_person(caller, user_id)
    known = checked_kind(kind)
    identity = _identity(known, memory_id)
    with restricted_shown(), scope(caller.tenant_id):
        for rows in current(caller, user_id, known):
            found: Row | None = rows.filter(id=identity).first()
            if found is not None:
                return found
    raise NotFound("There is no such memory of this person.")


def current(caller: Caller, user_id: str, kind: MemoryKind) -> list[QuerySet[Any]]:
    """The person's memories of that kind that hold or wait. Of episodes, apart, since no index serves both,
    those of nobody that are kept in the store under the person's name: exports and erasures cover them."""
    mine = Q(tenant_id=caller.tenant_id, user_id=user_id)
    if kind == "entity":
        return [Entity.objects.filter(mine, status__in=(SlotStatus.CURRENT, SlotStatus.PENDING))]
    if kind == "observation":
        return [Observation.objects.filter(mine, deleted_at=None)]
    holds = Episode.objects.filter(Q(valid_to=None) | Q(valid_to__gt=timezone.now()))
    kept_under = episodes_kept_under(tenant_id=caller.tenant_id, user_id=user_id)
    return [holds.filter(mine), holds.filter(kept_under, tenant_id=caller.tenant_id)]


def show(row: Row) -> Remembered:
    """The row, whatever its kind."""
    if isinstance(row, Entity):
        return _slot(row)
    if isinstance(row, Observation):
        text = f"{row.title}\n\n{row.content}" if row.title else row.content
        return _made(row, "observation", text, session=row.session)
    return _made(row, "episode", row.text, session=row.session, pinned_at=row.pinned_at)


def _slot(row: Entity) -> Remembered:
    return Remembered(
        kind="entity",
        id=str(row.id),
        text=slot_text(row.key, row.value),
        created_at=row.created_at,
        updated_at=row.updated_at,
        session=row.source_session,
        agent=row.agent_id,
        is_pinned=row.pinned_at is not None,
        status=row.status,
        key=row.key,
    )


def _made(
    row: Episode | Observation,
    kind: MemoryKind,
    text: str,
    *,
    session: str,
    pinned_at: datetime | None = None,
) -> Remembered:
    return Remembered(
        kind=kind,
        id=str(row.id),
        text=text,
        created_at=row.created_at,
        updated_at=row.updated_at or row.created_at,
        session=session,
        agent=row.agent_id,
        is_pinned=pinned_at is not None,
        status="current",
        is_kept_under=not row.user_id,
    )


def _page(rows: QuerySet[Any], kind: MemoryKind, limit: int, before: Place | None) -> list[Row]:
    if before is not None:
        at, same = before.created_at, Q(created_at=before.created_at)
        later = Q(created_at__lt=at)
        if kind == before.kind:
            later |= same & Q(id__lt=_identity(kind, before.id))
        elif kind < before.kind:
            later |= same
        rows = rows.filter(later, created_at__lte=at)  # the second is for the index
    return list(rows.order_by("-created_at", "-id")[:limit])


def _order(one: Remembered) -> tuple[datetime, str, UUID | int]:
    return one.created_at, one.kind, _identity(one.kind, one.id)


_PARSERS: dict[MemoryKind, Callable[[str], UUID | int]] = {
    "entity": UUID,
    "episode": UUID,
    "observation": int,
}


def identity_of(kind: MemoryKind, memory_id: str) -> UUID | int | None:
    """The id as it is stored; None for what cannot be one."""
    try:
        identity = _PARSERS[kind](memory_id[:64])
    except ValueError:
        return None
    return None if isinstance(identity, int) and not 0 <= identity <= LARGEST_NUMBER else identity


def _identity(kind: MemoryKind, memory_id: str) -> UUID | int:
    """Likewise. Raises NotFound for what cannot be one."""
    identity = identity_of(kind, memory_id)
    if identity is None:
        raise NotFound("There is no such memory of this person.")
    return identity
