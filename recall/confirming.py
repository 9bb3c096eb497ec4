"""Deciding what was not written: carrying it out after all, or dropping it for good."""

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from episodic.entities import drop_waiting, lock_slots, prepare_kept, put_kept
from episodic.episodes import build_episode, check_length
from episodic.inserting import insert_episode
from episodic.metrics import counted_at_commit
from episodic.models import SlotStatus
from episodic.superseding import supersede
from ledger.decisions import (
    SINCE_WRITTEN,
    access_to_decide,
    lock_decision,
    refuse_settled,
    settle,
    settle_slot,
)
from ledger.models import WriteDecision
from recall.holding import held_entity, held_episode
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Conflict, Invalid
from tenants.scope import scope
from tenants.tombstones import refuse_erased

Outcome = WriteDecision.Outcome
Commit = Callable[[WriteDecision], None]  # writes and settles in the open scope, with the decision locked


def confirm_decision(*, caller: Caller, decision_id: UUID, now: datetime) -> WriteDecision:
    """Carries the write out. Whoever confirms it again, or at the same time, gets the same answer.

    Raises NotFound, Forbidden for who may not decide it, Conflict when it was rejected, its text was not kept
    or its slot was written since, Erased when the person was erased since, and what the write itself is
    refused for, such as Invalid for a key that the policy does not allow.
    """
    seen = access_to_decide(caller=caller, decision_id=decision_id)
    commit = None
    if seen.outcome != Outcome.CONFIRMED:
        refuse_settled(seen, wanted=Outcome.CONFIRMED)
        commit = _prepared(caller, seen, now)
    with scope(caller.tenant_id):
        # What is held came in when the decision was made.
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=seen.created_at)
        decision = _locked(caller, seen)
        if decision.outcome != Outcome.CONFIRMED:
            refuse_settled(decision, wanted=Outcome.CONFIRMED)
            assert commit is not None  # noqa: S101  no decision is taken back
            commit(decision)
        idempotency.keep(decision, user_id=decision.user_id)
    return decision


def reject_decision(*, caller: Caller, decision_id: UUID, now: datetime) -> WriteDecision:
    """Drops for good what was kept of it, and has its value wait no more in its slot. Rejecting it again
    answers the same. Raises NotFound, Forbidden, Conflict when it was confirmed."""
    seen = access_to_decide(caller=caller, decision_id=decision_id)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=now)
        decision = _locked(caller, seen)
        if decision.outcome != Outcome.REJECTED:
            refuse_settled(decision, wanted=Outcome.REJECTED)
            _end_waiting(decision)
            settle(decision, outcome=Outcome.REJECTED, caller=caller, now=now)
        idempotency.keep(decision, user_id=decision.user_id)
    return decision


def _locked(caller: Caller, seen: WriteDecision) -> WriteDecision:
    """The decision, locked; its slots before it, as for whoever writes one and settles what waits."""
    if seen.kind == "entity" and seen.user_id:
        lock_slots(tenant_id=caller.tenant_id, user_id=seen.user_id)
    return lock_decision(caller=caller, decision_id=seen.id)


def _end_waiting(decision: WriteDecision) -> None:
    if decision.kind != "entity" or decision.held is None:
        return
    new = held_entity(decision.held)
    try:
        drop_waiting(tenant_id=decision.tenant_id, user_id=decision.user_id, key=new.key, value=new.value)
    except Invalid:  # no slot is called like that
        return


def _prepared(caller: Caller, decision: WriteDecision, now: datetime) -> Commit:
    """Does what needs no scope, such as asking for a vector."""
    prepare = _KINDS.get(decision.kind)
    if prepare is None:
        raise Conflict(f"What was kept is no memory but of kind {decision.kind}.")
    return prepare(caller, decision, now)


def _episode(caller: Caller, decision: WriteDecision, now: datetime) -> Commit:
    """In the commit of the decision, so that an episode is stored once however often it is confirmed."""
    episode = build_episode(caller=caller, new=held_episode(decision.held or {}), now=now)
    check_length(episode, episode.text)
    vectors = try_embed([episode.text], tenant_id=caller.tenant_id)
    vector = None if vectors is None else vectors[0]

    def commit(decision: WriteDecision) -> None:
        episode.supersedes = supersede(episode, vector)
        with counted_at_commit():
            insert_episode(episode, vector)
        settle(decision, outcome=Outcome.CONFIRMED, caller=caller, now=now, memory_id=str(episode.id))

    return commit


def _entity(caller: Caller, decision: WriteDecision, now: datetime) -> Commit:
    """In the commit of the decision, and of those that waited for the same slot."""
    kept = prepare_kept(caller=caller, new=held_entity(decision.held or {}), now=now)

    def commit(decision: WriteDecision) -> None:
        done = put_kept(kept=kept, since=decision.created_at, now=now)
        if done is None:
            raise Conflict(SINCE_WRITTEN)
        row = done.entity
        memory_id = str(row.id) if row else ""
        settle(decision, outcome=Outcome.CONFIRMED, caller=caller, now=now, memory_id=memory_id)
        if row is not None and row.status == SlotStatus.CURRENT:
            said = (row.value, memory_id)
            settle_slot(caller=caller, user_id=row.user_id, key=row.key, now=now, written=said)

    return commit


_KINDS: Mapping[str, Callable[[Caller, WriteDecision, datetime], Commit]] = {
    "episode": _episode,
    "entity": _entity,
}
