"""Slots of a user: what is believed of somebody, key by key, with its history.

A slot is one for all agents of a tenant, and belongs to its user. Reading is in `entity_reading`, and named
here as well.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from episodic import slot_queries
from episodic.announcements import tell_slot, tell_slots
from episodic.entity_reading import (
    access_entity,
    current_slots,
    list_entities,
    list_history,
    nearest_slots,
    search_entities,
)
from episodic.models import Entity, EntityEmbedding, SlotStatus
from episodic.slot_queries import Standing
from episodic.slot_rules import allowed, rules_of
from episodic.slot_writing import (
    Statement,
    close,
    confirm_slot,
    drop,
    is_an_agents,
    locked,
    next_moment,
    write_slot,
)
from episodic.slots import (
    CONFIRMED,
    DeletedSlot,
    EntityFilter,
    NewEntity,
    SlotRefused,
    SlotWrite,
    is_high_impact,
    slot_key,
    slot_text,
)
from ledger.decisions import forget_slot, settle_slot
from ledger.removals import note_removal, was_removed
from tenants import audit, idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import refuse_erased
from webhooks.models import Event

__all__ = [
    "DeletedSlot",
    "EntityFilter",
    "KeptSlot",
    "NewEntity",
    "SlotWrite",
    "access_entity",
    "check_entity",
    "confirm_entity",
    "current_slots",
    "delete_entity",
    "drop_waiting",
    "is_removed",
    "list_entities",
    "list_history",
    "lock_slots",
    "nearest_slots",
    "pin_entity",
    "prepare_kept",
    "put_entity",
    "put_extracted",
    "put_kept",
    "search_entities",
    "unpin_entity",
]


@dataclass(frozen=True, slots=True)
class KeptSlot:
    """What is to be written, and its vector if the model answered."""

    statement: Statement
    vector: NDArray[np.float32] | None


def put_entity(*, caller: Caller, new: NewEntity, now: datetime) -> SlotWrite:
    """Writes what is said of a user by the rule of `slot_writing`, however many write the same slot at once.

    What was extracted is skipped where the policy, a limit or a pin forbids it, waits if its key is one of
    `entities.high_impact_keys`, and is embedded by the sweeper: no provider is asked, so that a scope may be
    open. Anything else raises Invalid, TooLarge or Conflict, and waits likewise if an agent's key sends it;
    what holds then settles the decisions that wait for the slot. Raises Forbidden for another user than the
    key is bound to, Erased when the user was erased since `now`.
    """
    try:
        statement = allowed(caller, new, now)
        vector = None if new.extracted else _vector_of(statement)
        with scope(caller.tenant_id):
            refuse_erased(tenant_id=caller.tenant_id, user_id=statement.user_id, since=now)
            done = write_slot(statement, vector=vector, now=now)
            if not new.extracted:
                _settle_decisions(caller, done, now)
            idempotency.keep(done, user_id=statement.user_id)
    except SlotRefused as refused:
        if not new.extracted:
            raise refused.error from None
        return SlotWrite(None, "skipped", refused.reason)
    return done


def prepare_kept(*, caller: Caller, new: NewEntity, now: datetime) -> KeptSlot:
    """A write that was kept until somebody confirmed it, ready for `put_kept`. Asks a provider, so never in a
    scope. Raises what `put_entity` raises."""
    statement = check_entity(caller=caller, new=replace(new, source=CONFIRMED), now=now)
    return KeptSlot(statement, _vector_of(statement))


def lock_slots(*, tenant_id: UUID, user_id: str) -> None:
    """Nobody else writes or removes a slot of the user until the open scope ends. Asked for after the lock of
    `refuse_erased` and before those of decisions."""
    slot_queries.lock_user(tenant_id=tenant_id, user_id=user_id)


def put_kept(*, kept: KeptSlot, since: datetime, now: datetime) -> SlotWrite | None:
    """Writes it in the open scope, which has asked already whether the person was erased, as somebody says it
    who knows; None if the slot was written, repeated or confirmed after `since`, when it was kept."""
    new = kept.statement
    current = locked(tenant_id=new.tenant_id, user_id=new.user_id, key=new.key).current
    if current is not None and max(current.created_at, current.updated_at) > since:
        return None
    try:
        return write_slot(new, vector=kept.vector, now=now)
    except SlotRefused as refused:
        raise refused.error from None


def is_removed(*, tenant_id: UUID, user_id: str, key: str, since: datetime) -> bool:
    """Whether somebody removed the slot with its history at that moment or later; nobody does until the open
    scope ends."""
    lock_slots(tenant_id=tenant_id, user_id=user_id)
    return was_removed(tenant_id=tenant_id, user_id=user_id, key=slot_key(key), since=since)


def drop_waiting(*, tenant_id: UUID, user_id: str, key: str, value: Any) -> None:
    """Has the value wait no more if it is what waits, in the open scope."""
    stands = locked(tenant_id=tenant_id, user_id=user_id, key=slot_key(key), value=value)
    if stands.pending is not None and stands.same_pending:
        drop(stands.pending, by=None)


def put_extracted(
    *, caller: Caller, new: NewEntity, vector: NDArray[np.float32] | None, now: datetime
) -> SlotWrite:
    """`put_entity` of what was extracted, with the vector of its text if there is one, in the open scope,
    which has asked already whether the person was erased."""
    try:
        return write_slot(allowed(caller, new, now), vector=vector, now=now)
    except SlotRefused as refused:
        return SlotWrite(None, "skipped", refused.reason)


def check_entity(*, caller: Caller, new: NewEntity, now: datetime) -> Statement:
    """What is to be written, as far as that needs no look at what is stored. Raises what `put_entity` raises
    of something that was not extracted."""
    try:
        return allowed(caller, new, now)
    except SlotRefused as refused:
        raise refused.error from None


def confirm_entity(*, caller: Caller, user_id: str, key: str, now: datetime) -> Entity:
    """Has the pending value of a slot hold from now on, with full confidence. Raises NotFound when none
    waits, Forbidden for an agent's key: a model must not confirm its own guess."""
    _refuse_agents(caller, "confirm what waits")
    user_id, key = caller.confine_user(user_id), slot_key(key)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        entity = confirm_slot(tenant_id=caller.tenant_id, user_id=user_id, key=key, now=now)
        said = (entity.value, str(entity.id))
        settle_slot(caller=caller, user_id=user_id, key=key, now=now, written=said)
        idempotency.keep(entity, user_id=user_id)
    return entity


def delete_entity(
    *, caller: Caller, user_id: str, key: str, hard: bool, now: datetime, at: datetime | None = None
) -> DeletedSlot:
    """Takes back what holds and what waits: it is history then, as of `at` or now. `hard` removes the history
    as well, and what the decisions of the slot say; nothing that was said before brings it back. Either
    settles the decisions that wait for the slot.

    Raises NotFound when there is nothing, Forbidden for an agent's key, unless it takes back what agents
    alone have said and the policy and a pin leave to them."""
    user_id, key = caller.confine_user(user_id), slot_key(key)
    _refuse_agents(caller, "remove a slot's history", when=hard)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        stands = locked(tenant_id=caller.tenant_id, user_id=user_id, key=key)
        if caller.agent_id:
            _refuse_another_s(caller, key, stands)
        if hard:
            rows = _removed(slot_queries.slot(tenant_id=caller.tenant_id, user_id=user_id, key=key))
            note_removal(tenant_id=caller.tenant_id, user_id=user_id, key=key, now=now)
            settled = forget_slot(caller=caller, user_id=user_id, key=key, now=now)
            target = pseudonym(tenant_id=caller.tenant_id, user_id=user_id)
            if rows or settled:
                audit.record(
                    tenant_id=caller.tenant_id, actor=caller.principal, action="entity.delete", target=target
                )
        else:
            rows = _taken_back(stands, at=at, now=now)
            is_theirs = bool(rows) or not caller.agent_id  # no agent decides what only waits to be decided
            settled = is_theirs and settle_slot(
                caller=caller, user_id=user_id, key=key, now=now, until=at or now
            )
        done = DeletedSlot(rows)
        if rows or settled:
            idempotency.keep(done, user_id=user_id)
    if not rows and not settled:  # after the commit: what is under way finds the removal
        raise NotFound("There is no such slot.")
    return done


def pin_entity(*, caller: Caller, user_id: str, key: str, now: datetime) -> Entity:
    """Has the slot keep its value against whatever is extracted, or an agent's key sends. Raises NotFound,
    Forbidden for an agent's key."""
    return _pinned(caller, user_id, key, now=now, pinned_at=now)


def unpin_entity(*, caller: Caller, user_id: str, key: str, now: datetime) -> Entity:
    """Undoes `pin_entity`. Raises NotFound, Forbidden for an agent's key."""
    return _pinned(caller, user_id, key, now=now, pinned_at=None)


def _pinned(caller: Caller, user_id: str, key: str, *, now: datetime, pinned_at: datetime | None) -> Entity:
    _refuse_agents(caller, "pin or unpin")
    user_id, key = caller.confine_user(user_id), slot_key(key)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        entity = locked(tenant_id=caller.tenant_id, user_id=user_id, key=key).current
        if entity is None:
            raise NotFound("There is no such slot.")
        if pinned_at is None or entity.pinned_at is None:
            entity.pinned_at = pinned_at
            entity.save(update_fields=["pinned_at"])
        idempotency.keep(entity, user_id=user_id)
    return entity


def _refuse_agents(caller: Caller, doing: str, *, when: bool = True) -> None:
    if when and caller.agent_id:
        raise Forbidden(f"A key that is bound to an agent may not {doing}.")


def _refuse_another_s(caller: Caller, key: str, stands: Standing) -> None:
    """Leaves an agent what agents have said, unless it has high impact or is pinned."""
    high_impact = rules_of(caller, caller.agent_id).high_impact
    for row in (stands.current, stands.pending):
        if row is None:
            continue
        if row.pinned_at is not None or is_high_impact(key, row.value, high_impact) or not is_an_agents(row):
            _refuse_agents(caller, "take this back")


def _settle_decisions(caller: Caller, done: SlotWrite, now: datetime) -> None:
    """What waits to be decided is settled once somebody has said what holds. An agent confirms nothing."""
    row = done.entity
    if row is None or row.status != SlotStatus.CURRENT or done.action == "skipped":
        return
    said = None if caller.agent_id else (row.value, str(row.id))
    settle_slot(caller=caller, user_id=row.user_id, key=row.key, now=now, written=said)


def _taken_back(stands: Standing, *, at: datetime | None, now: datetime) -> int:
    """How many rows ceased to stand."""
    if stands.current is not None:
        close(stands.current, at=next_moment(stands.current, at or now) or now, by=None)
        tell_slot(stands.current, Event.RETRACTED)
    if stands.pending is not None:
        drop(stands.pending, by=None)
    return (stands.current is not None) + (stands.pending is not None)


def _removed(rows: QuerySet[Entity]) -> int:
    """In the open scope, with the user locked; how many."""
    gone = list(rows)
    ids = [row.id for row in gone]
    EntityEmbedding.objects.filter(entity_id__in=ids).delete()
    if gone:
        tell_slots(gone[0].tenant_id, gone, Event.ERASED)
    return rows.filter(id__in=ids).delete()[0]


def _vector_of(new: Statement) -> NDArray[np.float32] | None:
    vectors = try_embed([slot_text(new.key, new.value)], tenant_id=new.tenant_id)
    return None if vectors is None else vectors[0]
