"""Saving an episode that somebody sends: what it says is judged before it is stored."""

from dataclasses import replace
from datetime import datetime

from episodic.episodes import build_episode, check_length, store_episode
from episodic.models import Episode
from episodic.types import NewEpisode
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.gate import Verdict, judge
from recall.holding import hold_episode
from screening.values import mask_value, told
from tenants import idempotency
from tenants.caller import Caller
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased


def save_episode(*, caller: Caller, new: NewEpisode, now: datetime) -> Episode | WriteDecision:
    """The stored episode, masked if the policy says so; or the decision not to store it, which is held if
    somebody may still confirm it. Raises what `store_episode` raises."""
    episode = build_episode(caller=caller, new=new, now=now)
    check_length(episode, new.text)
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=episode.agent_id)
    verdict = judge(_all_of(new), policy=policy)
    if verdict.action == "write":
        return store_episode(caller=caller, new=new, now=now)
    if verdict.action == "redact":
        return store_episode(caller=caller, new=_masked(new), now=now)
    return _noted(caller, episode, new, verdict, now)


def _all_of(new: NewEpisode) -> str:
    """Everything that is said, not the text alone."""
    parts = (new.outcome, told(new.topics), told(new.entities), told(new.metadata))
    return "\n".join((new.text, *filter(None, parts)))


def _masked(new: NewEpisode) -> NewEpisode:
    return replace(
        new,
        text=mask_value(new.text),
        outcome=mask_value(new.outcome),
        topics=tuple(mask_value(new.topics)),
        entities=tuple(mask_value(new.entities)),
        metadata=mask_value(new.metadata),
    )


def _noted(
    caller: Caller, episode: Episode, new: NewEpisode, verdict: Verdict, now: datetime
) -> WriteDecision:
    is_held = verdict.action == "hold"
    refused = Refused(
        kind="episode",
        reason=verdict.reason,
        text=new.text,
        findings=verdict.findings,
        held=hold_episode(new) if is_held else None,
        outcome="held" if is_held else "skipped",
    )
    with scope(caller.tenant_id):
        refuse_erased(tenant_id=caller.tenant_id, user_id=episode.user_id, since=now)
        decision = note_decision(
            caller=caller,
            session_id=episode.session,
            user_id=episode.user_id,
            agent_id=episode.agent_id,
            project=episode.project,
            refused=refused,
            now=now,
        )
        idempotency.keep(decision, user_id=episode.user_id)
    return decision
