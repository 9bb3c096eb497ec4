"""Deciding what was not written: carrying it out after all, or dropping it for good."""

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from episodic.embedding import vector_of
from episodic.entities import put_entity
from episodic.episodes import build_episode, check_length
from episodic.metrics import counted_at_commit
from episodic.superseding import supersede
from ledger.decisions import access_to_decide, lock_decision, refuse_settled, settle
from ledger.models import WriteDecision
from recall.holding import held_entity, held_episode
from tenants import idempotency
from tenants.caller import Caller
from tenants.embedding import try_embed
from tenants.errors import Conflict
from tenants.scope import scope
from tenants.tombstones import refuse_erased

Outcome = WriteDecision.Outcome
Commit = Callable[[], str]  # writes in the open scope; the memory's id


def confirm_decision(*, caller: Caller, decision_id: UUID, now: datetime) -> WriteDecision:
    """Carries the write out. Whoever confirms it again, or at the same time, gets the same answer.

    Raises NotFound, Forbidden for who may not decide it, Conflict when it was rejected or its text was not
    kept, Erased when the person was erased since, and what the write itself is refused for, such as Invalid
    for a key that the policy does not allow.
    """
    seen = access_to_decide(caller=caller, decision_id=decision_id)
    commit = None
    if seen.outcome != Outcome.CONFIRMED:
        refuse_settled(seen, wanted=Outcome.CONFIRMED)
        commit = _prepared(caller, seen, now)
    with scope(caller.tenant_id):
        # What is held came in when the decision was made.
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=seen.created_at)
        decision = lock_decision(caller=caller, decision_id=decision_id)
        if decision.outcome != Outcome.CONFIRMED:
            refuse_settled(decision, wanted=Outcome.CONFIRMED)
            assert commit is not None  # noqa: S101  no decision is taken back
            settle(decision, outcome=Outcome.CONFIRMED, caller=caller, now=now, memory_id=commit())
        idempotency.keep(decision, user_id=decision.user_id)
    return decision


def reject_decision(*, caller: Caller, decision_id: UUID, now: datetime) -> WriteDecision:
    """Drops for good what was kept of it. Rejecting it again answers the same. Raises NotFound, Forbidden,
    Conflict when it was confirmed."""
    seen = access_to_decide(caller=caller, decision_id=decision_id)
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=seen.user_id, since=now)
        decision = lock_decision(caller=caller, decision_id=decision_id)
        if decision.outcome != Outcome.REJECTED:
            refuse_settled(decision, wanted=Outcome.REJECTED)
            settle(decision, outcome=Outcome.REJECTED, caller=caller, now=now)
        idempotency.keep(decision, user_id=decision.user_id)
    return decision


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
    episode.embed_pending = vectors is None

    def commit() -> str:
        episode.supersedes = supersede(episode, None if vectors is None else vectors[0])
        with counted_at_commit():
            episode.save(force_insert=True)
        if vectors is not None:
            vector_of(episode, vectors[0]).save(force_insert=True)
        return str(episode.id)

    return commit


def _entity(caller: Caller, decision: WriteDecision, now: datetime) -> Commit:
    """Before the decision is settled: saying the same of a slot twice is the same as once."""
    new = held_entity(decision.held or {})
    written = put_entity(caller=caller, new=new, now=now, since=decision.created_at).entity

    def commit() -> str:
        return str(written.id) if written else ""

    return commit


_KINDS: Mapping[str, Callable[[Caller, WriteDecision, datetime], Commit]] = {
    "episode": _episode,
    "entity": _entity,
}
