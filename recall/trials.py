"""Trials: a share of the sessions recalls by the policy's second setting; verdicts tell which serves better.

Whoever is in a trial is decided by a lot that belongs to the session, or to the user where a query comes
without one. So it can be told again later, of a verdict that names no injection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from ledger.variants import Counted, count_variants, variant_told
from recall import proportions
from recall.proportions import Interval, Sample
from tenants.caller import Caller
from tenants.drawing import draw
from tenants.errors import Forbidden
from tenants.policy.document import Policy
from tenants.policy.reading import read_policy
from tenants.policy.versions import Level, list_versions

Variant = Literal["", "control", "treatment"]  # "": in no trial
CONTROL: Variant = "control"
TREATMENT: Variant = "treatment"
VARIANTS: tuple[Variant, ...] = (CONTROL, TREATMENT)
PAGE = 100  # versions of the policy that are read at once


@dataclass(frozen=True, slots=True)
class Arm:
    """What one setting has told, and what was thought of it."""

    sessions: int
    injections: int
    verdicts: int
    helpful: int
    helpful_rate: float | None
    ci95: Interval | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial since it began, with the policy's `version`; its second setting as it differs from `recall`.
    `difference`: by how much the treatment's helpful rate exceeds the control's, and the interval."""

    share: float
    setting: Mapping[str, Any]
    version: int
    since: datetime | None
    arms: Mapping[Variant, Arm]
    difference: tuple[float, Interval] | None


def settings_for(
    policy: Policy, *, tenant_id: UUID, user_id: str, session: str = ""
) -> tuple[Policy, Variant]:
    """The policy with the `recall` that is meant for the session, or for the user if none is named, and which
    setting that is."""
    variant = variant_of(policy, tenant_id=tenant_id, user_id=user_id, session=session)
    if variant != TREATMENT:
        return policy, variant
    second = policy.recall.model_copy(update=_setting(policy))
    return policy.model_copy(update={"recall": second}), variant


def variant_of(policy: Policy, *, tenant_id: UUID, user_id: str, session: str = "") -> Variant:
    """The setting that recalls for the session, or for the user; none where neither is known."""
    if not policy.trial.share or not (session or user_id):
        return ""
    unit = f"session\x00{user_id}\x00{session}" if session else f"user\x00{user_id}"
    drawn = draw("trial", tenant_id=tenant_id, unit=unit)
    return TREATMENT if drawn < policy.trial.share else CONTROL


def variant_judged(*, tenant_id: UUID, user_id: str, session: str, episode_id: str) -> Variant:
    """The setting that recalled an episode for which no injection is named. Where its session was not told
    it, it was recalled for the session or for the user: if these have different settings, nobody can say."""
    policy = read_policy(tenant_id=tenant_id)
    if not policy.trial.share:
        return ""
    if session:
        told = variant_told(
            tenant_id=tenant_id, user_id=user_id, session=session, item_key=f"episode:{episode_id}"
        )
        if told is not None:
            return next((one for one in VARIANTS if one == told), "")
    units = {name for name in (session, "") if name or user_id}
    found = {variant_of(policy, tenant_id=tenant_id, user_id=user_id, session=name) for name in units}
    return found.pop() if len(found) == 1 else ""


def compare_trial(*, caller: Caller) -> Trial:
    """How the trial stands. Raises Forbidden for a key that is bound: the figures are of all users."""
    if caller.user_id or caller.agent_id or caller.project:
        raise Forbidden("A key that is bound does not reach the figures of all users.")
    policy = read_policy(tenant_id=caller.tenant_id)
    version, since = _begin(caller.tenant_id) if policy.trial.share else (0, None)
    counted = count_variants(tenant_id=caller.tenant_id, since=since) if since else {}
    samples = {one: _sample(counted.get(one, Counted())) for one in VARIANTS}
    return Trial(
        share=policy.trial.share,
        setting=_setting(policy),
        version=version,
        since=since,
        arms={one: _arm(counted.get(one, Counted()), samples[one]) for one in VARIANTS},
        difference=proportions.difference(samples[CONTROL], samples[TREATMENT]),
    )


def _setting(policy: Policy) -> dict[str, Any]:
    """What the second setting says of its own."""
    trial = policy.trial
    own = {
        "profile": trial.profile,
        "weights": trial.weights,
        "alpha": trial.alpha,
        "decay": trial.decay,
        "entity_boost": trial.entity_boost,
        "session_recency_days": trial.session_recency_days,
        "feedback_weight": trial.feedback_weight,
    }
    return {name: value for name, value in own.items() if value is not None}


def _begin(tenant_id: UUID) -> tuple[int, datetime | None]:
    """The version of the tenant's policy that began the trial, and when: no later one has changed either
    setting, or the share."""
    begun: tuple[int, datetime | None] = (0, None)
    compared: Mapping[str, Any] | None = None
    before: int | None = None
    while versions := list_versions(level=Level(tenant_id), limit=PAGE, before=before):
        for one in versions:
            of_trial = {name: one.document.get(name) for name in ("recall", "trial")}
            if compared is None:
                compared = of_trial
            if of_trial != compared:
                return begun
            begun = (one.version, one.created_at)
        before = versions[-1].version
    return begun


def _sample(one: Counted) -> Sample:
    return Sample(
        verdicts=one.verdicts,
        helpful=one.helpful,
        units=one.judged_sessions,
        verdicts_squared=one.verdicts_squared,
        helpful_squared=one.helpful_squared,
        both=one.both,
    )


def _arm(one: Counted, sample: Sample) -> Arm:
    return Arm(
        sessions=one.sessions,
        injections=one.injections,
        verdicts=one.verdicts,
        helpful=one.helpful,
        helpful_rate=proportions.rate(sample),
        ci95=proportions.interval(sample),
    )
