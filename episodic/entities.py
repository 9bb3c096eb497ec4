"""Slots of a user: what is believed of somebody, key by key, with its history.

A slot is one for all agents of a tenant, and belongs to its user. Reading is in `entity_reading`, and named
here as well.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db.models import QuerySet
from numpy.typing import NDArray

from episodic import slot_queries
from episodic.entity_reading import (
    access_entity,
    current_slots,
    list_entities,
    list_history,
    nearest_slots,
    search_entities,
)
from episodic.models import Entity, EntityEmbedding
from episodic.slot_queries import Standing
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
    json_text,
    slot_key,
    slot_keys,
    slot_text,
)
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Forbidden, Invalid, NotFound, TooLarge
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased

__all__ = [
    "DeletedSlot",
    "EntityFilter",
    "NewEntity",
    "SlotWrite",
    "access_entity",
    "check_entity",
    "confirm_entity",
    "current_slots",
    "delete_entity",
    "list_entities",
    "list_history",
    "nearest_slots",
    "pin_entity",
    "put_entity",
    "put_extracted",
    "search_entities",
    "unpin_entity",
]
CLOCK_AHEAD = timedelta(minutes=5)  # that a client's clock may be


@dataclass(frozen=True, slots=True)
class _Rules:
    """What the policy says of slots; the keys that are allowed as they are stored."""

    least: float
    allowed: frozenset[str]
    high_impact: tuple[str, ...]
    longest: int
    most: int


def put_entity(*, caller: Caller, new: NewEntity, now: datetime, since: datetime | None = None) -> SlotWrite:
    """Writes what is said of a user by the rule of `slot_writing`, however many write the same slot at once.

    What was extracted is skipped where the policy, a limit or a pin forbids it, waits if its key is one of
    `entities.high_impact_keys`, and is embedded by the sweeper: no provider is asked, so that a scope may be
    open. Anything else raises Invalid, TooLarge or Conflict, and
    waits likewise if an agent's key sends it. Raises Forbidden for another user than the key is bound to,
    Erased when the user was erased since `since`, the moment the write's cause came in, by default `now`:
    what was not extracted and has such a moment is a write that was kept until somebody confirmed it.
    """
    if since is not None and not new.extracted:
        new = replace(new, source=CONFIRMED)
    try:
        statement = _allowed(caller, new, now)
        vector = None if new.extracted else _vector_of(statement)
        with scope(caller.tenant_id):
            refuse_erased(tenant_id=caller.tenant_id, user_id=statement.user_id, since=since or now)
            done = write_slot(statement, vector=vector, now=now)
            idempotency.keep(done, user_id=statement.user_id)
    except SlotRefused as refused:
        if not new.extracted:
            raise refused.error from None
        return SlotWrite(None, "skipped", refused.reason)
    return done


def put_extracted(
    *, caller: Caller, new: NewEntity, vector: NDArray[np.float32] | None, now: datetime
) -> SlotWrite:
    """`put_entity` of what was extracted, with the vector of its text if there is one, in the open scope,
    which has asked already whether the person was erased."""
    try:
        return write_slot(_allowed(caller, new, now), vector=vector, now=now)
    except SlotRefused as refused:
        return SlotWrite(None, "skipped", refused.reason)


def check_entity(*, caller: Caller, new: NewEntity, now: datetime) -> Statement:
    """What is to be written, as far as that needs no look at what is stored. Raises what `put_entity` raises
    of something that was not extracted."""
    try:
        return _allowed(caller, new, now)
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
        idempotency.keep(entity, user_id=user_id)
    return entity


def delete_entity(
    *, caller: Caller, user_id: str, key: str, hard: bool, now: datetime, at: datetime | None = None
) -> DeletedSlot:
    """Takes back what holds and what waits: it is history then, as of `at` or now. `hard` removes the history
    as well. Raises NotFound when there is nothing, Forbidden for an agent's key, unless it takes back what
    agents alone have said and the policy and a pin leave to them."""
    user_id, key = caller.confine_user(user_id), slot_key(key)
    _refuse_agents(caller, "remove a slot's history", when=hard)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        stands = locked(tenant_id=caller.tenant_id, user_id=user_id, key=key)
        if caller.agent_id:
            _refuse_another_s(caller, key, stands)
        if hard:
            done = _removed(slot_queries.slot(tenant_id=caller.tenant_id, user_id=user_id, key=key))
        else:
            if stands.current is not None:
                close(stands.current, at=next_moment(stands.current, at or now) or now, by=None)
            if stands.pending is not None:
                drop(stands.pending, by=None)
            done = DeletedSlot((stands.current is not None) + (stands.pending is not None))
        if not done.rows:
            raise NotFound("There is no such slot.")
        idempotency.keep(done, user_id=user_id)
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
    high_impact = _rules_of(caller, caller.agent_id).high_impact
    for row in (stands.current, stands.pending):
        if row is None:
            continue
        if row.pinned_at is not None or is_high_impact(key, row.value, high_impact) or not is_an_agents(row):
            _refuse_agents(caller, "take this back")


def _removed(rows: QuerySet[Entity]) -> DeletedSlot:
    """In the open scope, with the user locked."""
    ids = list(rows.values_list("id", flat=True))
    EntityEmbedding.objects.filter(entity_id__in=ids).delete()
    return DeletedSlot(rows.filter(id__in=ids).delete()[0])


def _allowed(caller: Caller, new: NewEntity, now: datetime) -> Statement:
    """What is to be written. Raises SlotRefused for what the policy forbids, Forbidden for another's slot."""
    user_id, agent_id = caller.confine_user(new.user_id), caller.confine_agent(new.agent_id)
    if not user_id:
        raise Invalid("Name the user whose slot it is.", "user_id")
    rules = _rules_of(caller, agent_id)
    key = _allowed_key(new.key, rules)
    if not 0 <= new.confidence <= 1:  # so is no NaN
        raise SlotRefused("low_confidence", Invalid("Must be from 0 to 1.", "confidence"))
    if new.extracted and new.confidence < rules.least:
        raise SlotRefused("low_confidence", Invalid(f"Must be at least {rules.least}.", "confidence"))
    _refuse_long(new, rules)
    by_model, valid_from = new.extracted or bool(caller.agent_id), _moment(new.valid_from, now)
    return Statement(
        tenant_id=caller.tenant_id,
        user_id=user_id,
        key=key,
        value=new.value,
        confidence=new.confidence,
        source=new.source,
        agent_id=agent_id,
        session=new.session_id,
        turn=new.turn,
        valid_from=valid_from,
        said_at=valid_from if new.extracted else None,
        by_model=by_model,
        needs_confirmation=by_model and is_high_impact(key, new.value, rules.high_impact),
        most=rules.most,
    )


def _rules_of(caller: Caller, agent_id: str) -> _Rules:
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=agent_id)
    return _Rules(
        least=policy.entities.min_confidence,
        allowed=slot_keys(policy.entities.allowed_keys),
        high_impact=policy.entities.high_impact_keys,
        longest=policy.limits.entity_value_chars,
        most=policy.limits.entities_per_user,
    )


def _allowed_key(key: str, rules: _Rules) -> str:
    try:
        name = slot_key(key)
    except Invalid as error:
        raise SlotRefused("allowlist", error) from error
    if rules.allowed and name not in rules.allowed:
        raise SlotRefused("allowlist", Invalid("Is none of the keys that the policy allows.", "key"))
    return name


def _refuse_long(new: NewEntity, rules: _Rules) -> None:
    try:
        length = len(json_text(new.value))
    except Invalid as error:
        raise SlotRefused("policy", error) from error
    if length > rules.longest:
        raise SlotRefused("limit", TooLarge(f"The value exceeds {rules.longest} characters of JSON."))


def _moment(given: datetime | None, now: datetime) -> datetime | None:
    """Raises Invalid for a moment to come; one just ahead of our clock is now."""
    if given is None:
        return None
    if given.tzinfo is None:
        raise Invalid("Must name its time zone.", "valid_from")
    if given > now + CLOCK_AHEAD:
        raise Invalid("May not be in the future.", "valid_from")
    return min(given, now).astimezone(UTC)


def _vector_of(new: Statement) -> NDArray[np.float32] | None:
    vectors = try_embed([slot_text(new.key, new.value)], tenant_id=new.tenant_id)
    return None if vectors is None else vectors[0]
