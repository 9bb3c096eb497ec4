"""What may be written into a slot, as far as that needs no look at what is stored."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from episodic.slot_writing import Statement
from episodic.slots import NewEntity, SlotRefused, is_high_impact, json_text, slot_key, slot_keys
from tenants.caller import Caller
from tenants.errors import Invalid, TooLarge
from tenants.policy.reading import read_policy

CLOCK_AHEAD = timedelta(minutes=5)  # that a client's clock may be


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy says of slots; the keys that are allowed as they are stored."""

    least: float
    allowed: frozenset[str]
    high_impact: tuple[str, ...]
    longest: int
    most: int


def allowed(caller: Caller, new: NewEntity, now: datetime) -> Statement:
    """What is to be written. Raises SlotRefused for what the policy forbids, Forbidden for another's slot."""
    user_id, agent_id = caller.confine_user(new.user_id), caller.confine_agent(new.agent_id)
    if not user_id:
        raise Invalid("Name the user whose slot it is.", "user_id")
    rules = rules_of(caller, agent_id)
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
        not_removed_since=(valid_from or now) if new.extracted else None,
        by_model=by_model,
        needs_confirmation=by_model and is_high_impact(key, new.value, rules.high_impact),
        most=rules.most,
    )


def rules_of(caller: Caller, agent_id: str) -> Rules:
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=agent_id)
    return Rules(
        least=policy.entities.min_confidence,
        allowed=slot_keys(policy.entities.allowed_keys),
        high_impact=policy.entities.high_impact_keys,
        longest=policy.limits.entity_value_chars,
        most=policy.limits.entities_per_user,
    )


def _allowed_key(key: str, rules: Rules) -> str:
    try:
        name = slot_key(key)
    except Invalid as error:
        raise SlotRefused("allowlist", error) from error
    if rules.allowed and name not in rules.allowed:
        raise SlotRefused("allowlist", Invalid("Is none of the keys that the policy allows.", "key"))
    return name


def _refuse_long(new: NewEntity, rules: Rules) -> None:
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
