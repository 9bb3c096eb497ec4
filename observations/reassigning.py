"""Correcting whose an observation is: another person's, or another agent's."""

from dataclasses import dataclass, replace
from datetime import datetime

from ledger.models import Feedback, WriteDecision
from observations.announcements import tell_observation
from observations.dedup import find_topic, identity_of, lock_identity
from observations.indexing import index_observation, unindex_observation
from observations.models import Observation, ObservationRevision
from observations.observations import access_observation, reach_of
from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, Invalid, NotFound, PreconditionFailed
from tenants.scope import scope
from tenants.subjects import pseudonym
from tenants.tombstones import Erased, last_erasures
from webhooks.models import Event, Kind
from webhooks.querysets import forget_text

LONGEST = 255


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose it is; empty: nobody's, no agent's."""

    user_id: str
    agent_id: str


def reassign_observation(
    *, caller: Caller, observation_id: int, owner: Owner, now: datetime, expected: datetime | None = None
) -> Observation:
    """Has it belong to `owner`, with its history, what it is found by, what was thought of it and the
    decision that it came of. That sessions were told it stays with whom they are of. For scope admin.

    Neither person may be restricted, or have been erased since it was written: nobody's memory escapes an
    erasure so, or comes back after one. Whoever is told of memories is told that the former person's is gone
    and the other's is there. `expected`: when whoever asks has seen it changed last. Raises Forbidden,
    NotFound, Invalid, Restricted, Erased, PreconditionFailed, and Conflict when the person has another one
    of its topic key.
    """
    _check(caller, owner)
    reach = reach_of(caller, to_change=True)
    seen = access_observation(caller=caller, observation_id=observation_id)
    with scope(caller.tenant_id):
        _refuse_erased(seen, owner)  # people, then the topic, then the row
        lock_identity(replace(identity_of(seen), user_id=owner.user_id))
        mine = Observation.objects.filter(reach, id=observation_id, deleted_at=None)
        one = mine.select_for_update().first()
        if one is None:
            raise NotFound("observation not found")
        if one.updated_at != (expected or seen.updated_at) or one.user_id != seen.user_id:
            raise PreconditionFailed("It was changed meanwhile: look at what it says now, and whose it is.")
        if owner != Owner(one.user_id, one.agent_id):
            _reassign(one, owner, caller, now)
    return one


def _check(caller: Caller, owner: Owner) -> None:
    if not caller.may("admin"):
        raise Forbidden("Whose an observation is may be corrected with scope admin.")
    caller.confine_user(owner.user_id or None)
    caller.confine_agent(owner.agent_id or None)
    if (caller.user_id and not owner.user_id) or (caller.agent_id and not owner.agent_id):
        raise Forbidden("This key is bound: what it changes stays within its reach.")
    for name, value in (("user", owner.user_id), ("agent", owner.agent_id)):
        if len(value) > LONGEST or "\x00" in value:
            raise Invalid(f"At most {LONGEST} characters, none of them NUL.", name)


def _refuse_erased(one: Observation, owner: Owner) -> None:
    """As above. Neither can be erased or restricted until the open scope ends."""
    people = {one.user_id, owner.user_id} - {""}
    erased = last_erasures(tenant_id=one.tenant_id, user_ids=people) if people else {}
    if any(moment >= one.created_at for moment in erased.values()):
        raise Erased("One of the two was erased since this was written.")


def _reassign(one: Observation, owner: Owner, caller: Caller, now: datetime) -> None:
    """In the open scope, with all of it locked."""
    former = Owner(one.user_id, one.agent_id)
    is_moved = former.user_id != owner.user_id
    if is_moved:
        other = find_topic(replace(identity_of(one), user_id=owner.user_id))
        if other is not None:
            raise Conflict("This person has another observation with its topic key.")
        tell_observation(one, Event.RETRACTED)
        # What was told as the former person's stays theirs, without what is the other's from now on.
        forget_text(tenant_id=one.tenant_id, kind=Kind.OBSERVATION, memory_ids=[str(one.id)])
        unindex_observation(one)  # vectors and lexemes hold the person too
    one.user_id, one.agent_id, one.updated_at = owner.user_id, owner.agent_id, now
    one.embed_pending = one.embed_pending or is_moved
    one.save(update_fields=["user_id", "agent_id", "updated_at", "embed_pending"])
    _take_along(one)
    index_observation(one, now=now)
    tell_observation(one, Event.CREATED if is_moved else Event.UPDATED)
    _record(one, former, caller)


def _take_along(one: Observation) -> None:
    """What stands beside it under the former person's name, and would be exported and erased as theirs."""
    history = ObservationRevision.objects.filter(tenant_id=one.tenant_id, observation_id=one.id)
    history.update(user_id=one.user_id)
    named = {"tenant_id": one.tenant_id, "kind": "observation", "memory_id": str(one.id)}
    for table in (Feedback, WriteDecision):
        table._default_manager.filter(**named).update(user_id=one.user_id, agent_id=one.agent_id)


def _record(one: Observation, former: Owner, caller: Caller) -> None:
    people = {"subject": one.user_id, "former_subject": former.user_id}
    audit.record(
        tenant_id=one.tenant_id,
        actor=caller.principal,
        action="memory.reassign",
        target=str(one.id),
        kind="observation",
        agent_changed=former.agent_id != one.agent_id,
        **{
            name: pseudonym(tenant_id=one.tenant_id, user_id=user_id)
            for name, user_id in people.items()
            if user_id
        },
    )
