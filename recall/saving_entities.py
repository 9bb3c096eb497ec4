"""Writing a slot that somebody sends: what it says is judged before it is written."""

from dataclasses import replace
from datetime import datetime

from episodic.entities import NewEntity, SlotWrite, check_entity, put_entity
from episodic.slot_writing import Statement
from episodic.slots import slot_text
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.gate import Verdict, judge
from recall.holding import hold_entity
from screening.injection import poses_as_configuration
from screening.values import mask_value, told
from tenants import idempotency
from tenants.caller import Caller
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased


def save_entity(*, caller: Caller, new: NewEntity, now: datetime) -> SlotWrite | WriteDecision:
    """What became of the write, its value masked if the policy says so; or the decision not to write it,
    which is held if somebody may still confirm it. Raises what `put_entity` raises."""
    statement = check_entity(caller=caller, new=new, now=now)
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=statement.agent_id)
    verdict = _judged(statement, policy)
    if verdict.action == "write":
        return put_entity(caller=caller, new=new, now=now)
    if verdict.action == "redact":
        masked = replace(new, value=mask_value(new.value, statement.key))
        return put_entity(caller=caller, new=masked, now=now)
    return _noted(caller, statement, new, verdict, now)


def _judged(statement: Statement, policy: Policy) -> Verdict:
    """By what slot and value say together. Nobody may write a slot that would read as configuration."""
    text = slot_text(statement.key, statement.value)
    if poses_as_configuration(statement.key, statement.value):
        return Verdict("refuse", text, ("injection:configuration",), "injection")
    return judge(f"{text}\n{told(statement.value, statement.key)}", policy=policy)


def _noted(
    caller: Caller, statement: Statement, new: NewEntity, verdict: Verdict, now: datetime
) -> WriteDecision:
    is_held = verdict.action == "hold"
    refused = Refused(
        kind="entity",
        reason=verdict.reason,
        text=slot_text(statement.key, statement.value),
        key=statement.key,
        confidence=statement.confidence,
        findings=verdict.findings,
        held=hold_entity(replace(new, user_id=statement.user_id)) if is_held else None,
        outcome="held" if is_held else "skipped",
    )
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=statement.user_id, since=now)
        decision = note_decision(
            caller=caller,
            session_id=statement.session,
            user_id=statement.user_id,
            agent_id=statement.agent_id,
            project="",
            refused=refused,
            now=now,
        )
        idempotency.keep(decision, user_id=statement.user_id)
    return decision
