"""What a write does to a slot, in the open scope: at most one value holds and one waits, and what held before
stays as history, each value for a time of its own.

A write counts if its confidence is not lower, or its value is another. Another value closes the one before it
and is a row of its own; the same value again is noted in its row. What was extracted counts from when it was
said, whenever it is written: what was written or confirmed since then stays.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import JSONField, Value
from numpy.typing import NDArray

from episodic import slot_queries
from episodic.announcements import tell_slot
from episodic.entity_embedding import keep_vector
from episodic.models import Entity, SlotStatus
from episodic.slot_queries import Standing
from episodic.slots import CONFIRMED, SlotRefused, SlotWrite
from ledger.removals import was_removed
from tenants.errors import Conflict, NotFound
from webhooks.models import Event

INSTANT = timedelta(microseconds=1)
TOLD = {"created": Event.CREATED, "updated": Event.UPDATED}  # what waits is no memory yet


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be written, once it is known to be allowed. `by_model`: a model or an agent says so;
    `needs_confirmation`: then it may only wait. `said_at`: when, if before it is written. If the slot was
    removed since `not_removed_since`, it is not written. `most`: how many slots the user may have."""

    tenant_id: UUID
    user_id: str
    key: str
    value: Any
    confidence: float
    source: str
    agent_id: str
    session: str
    turn: int | None
    valid_from: datetime | None
    said_at: datetime | None
    not_removed_since: datetime | None
    by_model: bool
    needs_confirmation: bool
    most: int

    def row(self, *, status: SlotStatus, valid_from: datetime, now: datetime) -> Entity:
        """An unsaved row that says so."""
        return Entity(
            tenant_id=self.tenant_id,
            user_id=self.user_id,
            key=self.key,
            value=self.value,
            confidence=self.confidence,
            status=status,
            source=self.source,
            agent_id=self.agent_id,
            source_session=self.session,
            source_turn=self.turn,
            valid_from=valid_from,
            created_at=now,
            updated_at=self.said_at or now,
        )


def write_slot(new: Statement, *, vector: NDArray[np.float32] | None, now: datetime) -> SlotWrite:
    """Writes it, with its vector if there is one. Raises SlotRefused."""
    done = _write(new, vector, now)
    if done.entity is not None and done.action in TOLD:
        tell_slot(done.entity, TOLD[done.action])
    return done


def _write(new: Statement, vector: NDArray[np.float32] | None, now: datetime) -> SlotWrite:
    slot_queries.lock_user(tenant_id=new.tenant_id, user_id=new.user_id)
    if new.not_removed_since is not None and was_removed(
        tenant_id=new.tenant_id, user_id=new.user_id, key=new.key, since=new.not_removed_since
    ):
        return SlotWrite(None, "skipped", "outdated")
    stands = slot_queries.standing(tenant_id=new.tenant_id, user_id=new.user_id, key=new.key, value=new.value)
    begin = _begin(new, stands.current, now)
    if (late := _too_late(new, stands, is_past=begin is None)) is not None:
        return late
    if begin is not None and stands.current is not None and stands.same_current:
        return _said_again(new, stands.current, stands.pending, now)
    _refuse_pinned(new, stands.current, is_past=begin is None)
    if stands.current is None and stands.pending is None and (begin is not None or new.needs_confirmation):
        _refuse_crowd(new)
    if new.needs_confirmation:
        return _put_off(new, stands, vector, now)
    if begin is None:
        return _written_into_history(new, now)
    row = new.row(status=SlotStatus.CURRENT, valid_from=begin, now=now)
    if stands.current is not None:
        row.pinned_at = stands.current.pinned_at
        close(stands.current, at=begin, by=row.id)
    if stands.pending is not None and not new.by_model:
        drop(stands.pending, by=row.id)
    keep_row(row, vector)
    return SlotWrite(row, "created" if stands.current is None else "updated")


def confirm_slot(*, tenant_id: UUID, user_id: str, key: str, now: datetime) -> Entity:
    """Has the pending value hold from now on. Raises NotFound when none waits."""
    stands = locked(tenant_id=tenant_id, user_id=user_id, key=key)
    row = stands.pending
    if row is None:
        raise NotFound("Nothing waits for a confirmation in this slot.")
    row.valid_from = next_moment(stands.current, now) or _after_the_last(row, now)
    if stands.current is not None:
        row.pinned_at = stands.current.pinned_at
        close(stands.current, at=row.valid_from, by=row.id)
    row.status, row.confidence, row.source, row.updated_at = SlotStatus.CURRENT, 1.0, CONFIRMED, now
    row.save(update_fields=["status", "confidence", "source", "valid_from", "pinned_at", "updated_at"])
    tell_slot(row, Event.CREATED if stands.current is None else Event.UPDATED)
    return row


def is_an_agents(row: Entity) -> bool:
    """Whether nobody but agents, or what was extracted for them, says so."""
    return bool(row.agent_id) and row.source != CONFIRMED


def locked(*, tenant_id: UUID, user_id: str, key: str, value: Any = None) -> Standing:
    """What stands in the slot, compared with `value`; nobody else writes it until the open scope ends."""
    slot_queries.lock_user(tenant_id=tenant_id, user_id=user_id)
    return slot_queries.standing(tenant_id=tenant_id, user_id=user_id, key=key, value=value)


def next_moment(current: Entity | None, now: datetime) -> datetime | None:
    """When what comes after the current value begins: now, or at once after it by a clock that is behind."""
    return None if current is None else max(now, current.valid_from + INSTANT)


def close(row: Entity, *, at: datetime, by: UUID | None) -> None:
    """The current value ceases to hold: another came, or it is taken back."""
    row.status = SlotStatus.SUPERSEDED if by else SlotStatus.RETRACTED
    row.valid_to, row.superseded_by, row.embed_pending = at, by, False
    slot_queries.store_closed(row)


def drop(row: Entity, *, by: UUID | None) -> None:
    """The pending value waits no more; it held at no moment."""
    close(row, at=row.valid_from, by=by)


def keep_row(row: Entity, vector: NDArray[np.float32] | None) -> None:
    """Inserts it, with its vector or to be embedded later."""
    row.embed_pending = vector is None
    _insert(row)
    if vector is not None:
        keep_vector(row, vector)


def _begin(new: Statement, current: Entity | None, now: datetime) -> datetime | None:
    """Since when it would hold; None when something else came after it: then it is history."""
    given = new.valid_from
    if current is not None:
        if given is None:
            return next_moment(current, now)
        return given if given >= current.valid_from else None
    end = slot_queries.last_end(tenant_id=new.tenant_id, user_id=new.user_id, key=new.key)
    if given is None:
        return now if end is None else max(now, end)
    return given if end is None or given >= end else None


def _too_late(new: Statement, stands: Standing, *, is_past: bool) -> SlotWrite | None:
    """What becomes of something that was said before what stands was written or confirmed: nothing, unless it
    is history."""
    if new.said_at is None:
        return None
    current, pending = stands.current, stands.pending
    if current is not None and not is_past and new.said_at < current.updated_at:
        return SlotWrite(None, "skipped", "duplicate" if stands.same_current else "outdated")
    if not new.needs_confirmation:
        return None
    if is_past:
        return SlotWrite(None, "skipped", "outdated")
    if pending is not None and new.said_at < pending.updated_at:
        return SlotWrite(None, "skipped", "duplicate" if stands.same_pending else "outdated")
    return None


def _after_the_last(row: Entity, now: datetime) -> datetime:
    end = slot_queries.last_end(tenant_id=row.tenant_id, user_id=row.user_id, key=row.key)
    return now if end is None else max(now, end)


def _refuse_pinned(new: Statement, current: Entity | None, *, is_past: bool) -> None:
    if current is None or current.pinned_at is None or not new.by_model or is_past:
        return
    raise SlotRefused("pinned", Conflict("This slot is pinned: an agent may not change it."))


def _refuse_crowd(new: Statement) -> None:
    if slot_queries.count_slots(tenant_id=new.tenant_id, user_id=new.user_id) < new.most:
        return
    raise SlotRefused("limit", Conflict(f"This user has {new.most} slots: the policy allows no more."))


def _said_again(new: Statement, row: Entity, pending: Entity | None, now: datetime) -> SlotWrite:
    if new.confidence < row.confidence:
        return SlotWrite(row, "skipped", "duplicate")
    _note_again(new, row, now)
    if pending is not None and not new.by_model:
        drop(pending, by=row.id)
    return SlotWrite(row, "confirmed_again")


def _note_again(new: Statement, row: Entity, now: datetime) -> None:
    """What a person says stays a person's, though an agent repeats it."""
    row.confidence, row.updated_at = new.confidence, max(new.said_at or now, row.updated_at)
    if not (new.by_model and new.agent_id) or is_an_agents(row):
        row.source, row.agent_id = new.source, new.agent_id
        row.source_session, row.source_turn = new.session, new.turn
    fields = ["confidence", "source", "agent_id", "source_session", "source_turn", "updated_at"]
    row.save(update_fields=fields)


def _put_off(
    new: Statement, stands: Standing, vector: NDArray[np.float32] | None, now: datetime
) -> SlotWrite:
    """It waits until somebody confirms it, in the place of what waited before."""
    if stands.pending is not None and stands.same_pending:
        if new.confidence >= stands.pending.confidence:
            _note_again(new, stands.pending, now)
        return SlotWrite(stands.pending, "pending", "unconfirmed")
    row = new.row(status=SlotStatus.PENDING, valid_from=new.valid_from or now, now=now)
    if stands.pending is not None:
        drop(stands.pending, by=row.id)
    keep_row(row, vector)
    return SlotWrite(row, "pending", "unconfirmed")


def _written_into_history(new: Statement, now: datetime) -> SlotWrite:
    """It held until what came after it; what held when it began ends there."""
    assert new.valid_from is not None  # noqa: S101  what has no moment is not history
    rows = slot_queries.slot(tenant_id=new.tenant_id, user_id=new.user_id, key=new.key)
    before = slot_queries.holding(rows, new.valid_from).first()
    if before is not None and rows.filter(id=before.id, value=new.value).exists():
        return _said_again(new, before, None, now)
    row = new.row(status=SlotStatus.SUPERSEDED, valid_from=new.valid_from, now=now)
    row.embed_pending = False
    if before is None:
        after = slot_queries.held(rows).filter(valid_from__gt=new.valid_from).earliest("valid_from")
        row.valid_to, row.superseded_by = after.valid_from, after.id
    else:
        row.status, row.valid_to, row.superseded_by = before.status, before.valid_to, before.superseded_by
        close(before, at=new.valid_from, by=row.id)
    _insert(row)
    return SlotWrite(row, "created")


def _insert(row: Entity) -> None:
    """JSON's null is a value; None in a column would be its absence."""
    if row.value is None:
        row.value = Value(None, JSONField())
    row.save(force_insert=True)
    row.value = None if isinstance(row.value, Value) else row.value
