"""Editing an episode: what it is to say is judged as when it is stored."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from episodic.editing import edit_episode
from episodic.episodes import access_episode, check_length
from episodic.models import Episode
from episodic.records import access_record, edit_record
from episodic.types import EpisodeChanges, RecordChanges
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
    for somebody to confirm: what it was made on may be another by then. What goes to another agent is judged
    as a whole by that one's policy. Raises what `edit_episode` raises."""
    episode = access_episode(caller=caller, episode_id=episode_id)
    check_length(episode, changes.get("text", ""))
    agent_id = changes.get("agent_id", episode.agent_id)
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=agent_id)
    if agent_id != episode.agent_id:
        changes = cast(EpisodeChanges, {name: getattr(episode, name) for name in SAID} | changes)
        match = match or {episode.version}  # of which this is the judgement
    verdict = judge(_said(changes), policy=policy)
    if verdict.action in ("hold", "refuse"):
        return _noted(caller, episode, changes, verdict, now)
    if verdict.action == "redact":
        changes = cast(EpisodeChanges, _masked(changes))
    return edit_episode(caller=caller, episode_id=episode_id, changes=changes, match=match, now=now)


def save_record_edit(
    *,
    caller: Caller,
    record_id: str,
    changes: RecordChanges,
    user_id: str | None = None,
    namespace: str | None = None,
    now: datetime,
) -> Episode | WriteDecision:
    """Likewise of a record by its client's id, of any user and namespace or of those. Raises what
    `edit_record` raises."""
    episode = access_record(caller=caller, record_id=record_id, user_id=user_id, namespace=namespace)
    check_length(episode, changes.get("text", ""))
    policy = read_policy(tenant_id=caller.tenant_id, agent_id=episode.agent_id)
    verdict = judge(_said(changes), policy=policy)
    if verdict.action in ("hold", "refuse"):
        return _noted(caller, episode, changes, verdict, now)
    if verdict.action == "redact":
        changes = cast(RecordChanges, _masked(changes))
    return edit_record(
        caller=caller,
        record_id=record_id,
        changes=changes,
        of_user=user_id,
        of_namespace=namespace,
        now=now,
    )


def _said(changes: Mapping[str, Any]) -> str:
    given = (value for name, value in changes.items() if name in SAID and value)
    return "\n".join(value if isinstance(value, str) else told(value) for value in given)


def _masked(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: mask_value(value) if name in SAID else value for name, value in changes.items()}


def _noted(
    caller: Caller, episode: Episode, changes: Mapping[str, Any], verdict: Verdict, now: datetime
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
