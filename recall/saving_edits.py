"""Editing an episode: what it is to say is judged as when it is stored."""

from collections.abc import Collection
from datetime import datetime
from typing import cast
from uuid import UUID

from episodic.editing import edit_episode
from episodic.episodes import access_episode, check_length
from episodic.models import Episode
from episodic.types import EpisodeChanges
from ledger.decisions import Refused, note_decision
from ledger.models import WriteDecision
from recall.gate import Verdict, judge
from screening.values import mask_value, told
from tenants import idempotency
from tenants.caller import Caller
from tenants.policy.reading import read_policy
from tenants.scope import scope
from tenants.tombstones import refuse_erased

SAID = ("text", "outcome", "topics", "entities", "metadata")


def save_edit(
    *,
    caller: Caller,
    episode_id: UUID,
    changes: EpisodeChanges,
    match: Collection[int] | None = None,
    now: datetime,
) -> Episode | WriteDecision:
    """The edited episode, masked if the policy says so; or the decision not to edit it. An edit is not held
    for somebody to confirm: what it was made on may be another by then. Raises what `edit_episode` raises."""
    episode = access_episode(caller=caller, episode_id=episode_id)
    check_length(episode, changes.get("text", ""))
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=episode.agent_id)
    verdict = judge(_said(changes), policy=policy)
    if verdict.action in ("hold", "refuse"):
        return _noted(caller, episode, changes, verdict, now)
    if verdict.action == "redact":
        changes = _masked(changes)
    return edit_episode(caller=caller, episode_id=episode_id, changes=changes, match=match, now=now)


def _said(changes: EpisodeChanges) -> str:
    given = (value for name, value in changes.items() if name in SAID and value)
    return "\n".join(value if isinstance(value, str) else told(value) for value in given)


def _masked(changes: EpisodeChanges) -> EpisodeChanges:
    masked = {name: mask_value(value) if name in SAID else value for name, value in changes.items()}
    return cast(EpisodeChanges, masked)


def _noted(
    caller: Caller, episode: Episode, changes: EpisodeChanges, verdict: Verdict, now: datetime
) -> WriteDecision:
    refused = Refused(
        kind="episode", reason=verdict.reason, text=changes.get("text", ""), findings=verdict.findings
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
