"""What was not written, and why: noted beside the write, listed, decided later by somebody who may."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from ledger.metrics import WRITES_SKIPPED
from ledger.models import WriteDecision
from screening.sensitive import find_sensitive, mask
from tenants import audit
from tenants.caller import Caller
from tenants.errors import Conflict, Forbidden, NotFound
from tenants.scope import scope

Outcome = WriteDecision.Outcome
LONGEST_TEXT = 500  # characters of a refused text that are kept
LONGEST_KEY = 255
LOOKED_AT = 4_000  # characters: a secret that only begins within the text kept is seen in full
# Why a write may have been skipped whose text can be kept for whoever wants it after all.
KEPT_REASONS = frozenset({"low_confidence", "allowlist", "policy", "unconfirmed"})
NOT_KEPT = "The text was not kept, so it cannot be written any more."
OUTDATED = "outdated"  # the reason of what was settled by a later write of its slot
SINCE_WRITTEN = "This is outdated: its slot was written, confirmed, taken back or removed since."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refused:
    """A write that is not carried out: of what `kind` (entity, episode, summary, …) and for which `reason`.

    `held` is what is written on confirmation, as `recall.holding` makes it. It is kept for what is held, and
    for what was skipped for one of `KEPT_REASONS` and holds nothing sensitive.
    """

    kind: str
    reason: str
    text: str
    key: str = ""
    confidence: float | None = None
    findings: tuple[str, ...] = ()
    held: Mapping[str, Any] | None = None
    outcome: Literal["skipped", "held"] = "skipped"


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions are meant. None: any."""

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    kind: str | None = None
    outcome: str | None = None
    reason: str | None = None
    since: datetime | None = None


def note_decision(
    *,
    caller: Caller,
    session_id: str,
    user_id: str,
    agent_id: str,
    project: str,
    refused: Refused,
    now: datetime,
) -> WriteDecision:
    """Notes in the open scope what is not written. The text is masked and cut here, and not logged."""
    decision = WriteDecision.objects.create(
        tenant_id=caller.tenant_id,
        user_id=user_id,
        agent_id=agent_id,
        project=project,
        session=session_id,
        kind=refused.kind,
        key=masked(refused.key)[:LONGEST_KEY],
        outcome=refused.outcome,
        reason=refused.reason,
        findings=list(refused.findings),
        text=masked(refused.text),
        confidence=refused.confidence,
        held=dict(refused.held) if refused.held is not None and _may_be_kept(refused) else None,
        created_at=now,
    )
    transaction.on_commit(lambda: _tell(decision))
    return decision


def masked(text: str) -> str:
    """The beginning of the text, without what is sensitive in it."""
    beginning = text[:LOOKED_AT]
    return mask(beginning, find_sensitive(beginning))[:LONGEST_TEXT]


def list_decisions(
    *,
    caller: Caller,
    where: DecisionFilter,
    limit: int,
    before: tuple[datetime, UUID] | None = None,
) -> list[WriteDecision]:
    """Decisions within the key's reach, newest first, without their texts for whoever is not shown
    conversations; `before`: continue after that one."""
    named = {
        "user_id": caller.confine_user(where.user_id),
        "agent_id": caller.confine_agent(where.agent_id),
        "session": where.session_id,
        "kind": where.kind,
        "outcome": where.outcome,
        "reason": where.reason,
        "created_at__gte": where.since,
    }
    condition = _reach(caller) & Q(**{name: value for name, value in named.items() if value})
    if before is not None:
        moment, decision_id = before
        condition &= Q(created_at__lte=moment) & (Q(created_at__lt=moment) | Q(id__lt=decision_id))
    with scope(caller.tenant_id):
        found = list(WriteDecision.objects.filter(condition).order_by("-created_at", "-id")[:limit])
    return [_as_shown(caller, one) for one in found]


def access_decision(*, caller: Caller, decision_id: UUID) -> WriteDecision:
    """One that the key reaches, likewise. Raises NotFound, also for another's."""
    with scope(caller.tenant_id):
        found = WriteDecision.objects.filter(_reach(caller), id=decision_id).first()
    if found is None:
        raise NotFound("There is no such write decision.")
    return _as_shown(caller, found)


def access_to_decide(*, caller: Caller, decision_id: UUID) -> WriteDecision:
    """Likewise, for who may decide it: a member who may write; a key that is bound to the user it is about,
    or has scope privacy or admin, and belongs to no agent, since a model must not confirm what it was
    refused. Raises Forbidden, which leaves an entry in the audit log, NotFound."""
    decision = access_decision(caller=caller, decision_id=decision_id)
    is_theirs = bool(caller.user_id) and caller.user_id == decision.user_id
    is_editor = caller.kind == "member" and caller.may("write")
    if not caller.agent_id and (is_theirs or is_editor or caller.may("privacy")):
        return decision
    with scope(caller.tenant_id):
        record(decision, caller, "decision.refused")
    if caller.agent_id:
        raise Forbidden("A key that is bound to an agent may not decide what is written.")
    raise Forbidden("Deciding what is written needs the user's own key, or scope privacy.")


def lock_decision(*, caller: Caller, decision_id: UUID) -> WriteDecision:
    """The decision, locked until the open scope ends. Raises NotFound."""
    found = WriteDecision.objects.select_for_update().filter(_reach(caller), id=decision_id).first()
    if found is None:
        raise NotFound("There is no such write decision.")
    return found


def settle(
    decision: WriteDecision, *, outcome: Outcome, caller: Caller, now: datetime, memory_id: str = ""
) -> None:
    """Notes in the open scope, with the decision locked, what became of it. What was kept of it goes."""
    decision.outcome, decision.memory_id, decision.held = outcome, memory_id, None
    decision.decided_by, decision.decided_at = caller.principal, now
    decision.save(update_fields=["outcome", "reason", "memory_id", "held", "decided_by", "decided_at"])
    record(decision, caller, f"decision.{outcome}")


def settle_slot(
    *,
    caller: Caller,
    user_id: str,
    key: str,
    now: datetime,
    until: datetime | None = None,
    written: tuple[Any, str] | None = None,
) -> int:
    """Settles in the open scope, with the person's slots locked, what waits for the slot and was decided by
    `until`, or `now`: it is outdated. `written`: somebody who may has said this value, and it is the memory
    with this id; whoever waited to say so is confirmed. How many."""
    waiting = _of_slot(caller.tenant_id, user_id, key).filter(
        outcome__in=(Outcome.HELD, Outcome.SKIPPED), held__isnull=False, created_at__lte=until or now
    )
    same = Q(held__value=written[0]) if written is not None else Q(pk=None)
    found = waiting.select_for_update().annotate(is_same=same).order_by("id")
    for decision in found:
        if written is not None and decision.is_same:
            settle(decision, outcome=Outcome.CONFIRMED, caller=caller, now=now, memory_id=written[1])
        else:
            decision.reason = OUTDATED
            settle(decision, outcome=Outcome.REJECTED, caller=caller, now=now)
    return len(found)


def forget_slot(*, caller: Caller, user_id: str, key: str, now: datetime) -> int:
    """Likewise, and nothing is left of what any decision of the slot says. How many waited, or said it."""
    waited = settle_slot(caller=caller, user_id=user_id, key=key, now=now)
    return max(waited, _of_slot(caller.tenant_id, user_id, key).exclude(text="").update(text=""))


def refuse_settled(decision: WriteDecision, *, wanted: Outcome) -> None:
    """Raises Conflict for one that was decided the other way, or that nothing is left of to be written."""
    if decision.outcome == Outcome.CONFIRMED:
        raise Conflict("This was confirmed before.")
    if decision.outcome == Outcome.REJECTED and decision.reason == OUTDATED and wanted == Outcome.CONFIRMED:
        raise Conflict(SINCE_WRITTEN)
    if decision.outcome == Outcome.REJECTED:
        raise Conflict("This was rejected before.")
    if wanted == Outcome.CONFIRMED and decision.held is None:
        raise Conflict(NOT_KEPT)


def record(decision: WriteDecision, caller: Caller, action: str) -> None:
    """An entry in the audit log, in the open scope."""
    audit.record(
        tenant_id=caller.tenant_id,
        actor=caller.principal,
        action=action,
        target=str(decision.id),
        kind=decision.kind,
        reason=decision.reason,
    )


def _of_slot(tenant_id: UUID, user_id: str, key: str) -> QuerySet[WriteDecision]:
    """The decisions about a slot, named as `note_decision` names it."""
    return WriteDecision.objects.filter(
        tenant_id=tenant_id, user_id=user_id, kind="entity", key=masked(key)[:LONGEST_KEY]
    )


def _may_be_kept(refused: Refused) -> bool:
    if refused.outcome == "held":
        return True
    if refused.reason not in KEPT_REASONS or refused.findings:
        return False
    return not find_sensitive(json.dumps(refused.held, ensure_ascii=False, default=str))


def _as_shown(caller: Caller, decision: WriteDecision) -> WriteDecision:
    """The row is not to be saved: what was to be written may be a user's own words."""
    if not caller.may_read_conversations:
        decision.text = ""
    return decision


def _reach(caller: Caller) -> Q:
    bound = {"user_id": caller.user_id, "agent_id": caller.agent_id, "project": caller.project}
    return Q(tenant_id=caller.tenant_id, **{name: value for name, value in bound.items() if value})


def _tell(decision: WriteDecision) -> None:
    WRITES_SKIPPED.labels(decision.kind, decision.reason).inc()
    logger.debug("memory_write_skipped_reason=%s kind=%s", decision.reason, decision.kind)
