"""Deciding that what waits for a slot is not so."""

from datetime import datetime

from episodic.models import Entity
from episodic.slot_writing import drop, locked
from episodic.slots import slot_key
from ledger.decisions import settle_slot
from tenants import idempotency
from tenants.caller import Caller
from tenants.errors import Forbidden, NotFound
from tenants.scope import scope
from tenants.tombstones import refuse_erased


def reject_entity(*, caller: Caller, user_id: str, key: str, now: datetime) -> Entity:
    """Has the pending value of a slot wait no more: it never held. What the slot holds stays; the decisions
    that wait for it are settled. Raises NotFound when none waits, Forbidden for an agent's key: a model must
    not decide about another's guess."""
    if caller.agent_id:
        raise Forbidden("A key that is bound to an agent may not reject what waits.")
    user_id, key = caller.confine_user(user_id), slot_key(key)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=user_id, since=now)
        pending = locked(tenant_id=caller.tenant_id, user_id=user_id, key=key).pending
        if pending is None:
            raise NotFound("Nothing waits for this slot.")
        drop(pending, by=None)
        settle_slot(caller=caller, user_id=user_id, key=key, now=now)
        idempotency.keep(pending, user_id=user_id)
    return pending
