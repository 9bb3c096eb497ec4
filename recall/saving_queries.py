"""Saving queries to measure recall with: what is asked is judged like a memory, and labels are episodes that
the query can find."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from episodic.episodes import access_episode
from episodic.models import Episode
from ledger import cases
from ledger.cases import NewQuery
from ledger.models import EvaluationQuery
from recall.gate import REFUSED, judge
from tenants.caller import Caller
from tenants.errors import Invalid, NotFound
from tenants.policy.reading import read_policy


def save_query(*, caller: Caller, new: NewQuery, now: datetime) -> EvaluationQuery:
    """Keeps a query with its labels, masked if the policy says so. Raises Invalid for a text that may not be
    remembered, or when it names nobody's memories, or labels that are none of these; Forbidden, Conflict."""
    new = replace(
        new,
        user_id=caller.confine_user(new.user_id),
        agent_id=caller.confine_agent(new.agent_id),
        project=caller.confine_project(new.project),
    )
    if not new.user_id and not new.agent_id:
        raise Invalid("Name a user_id or agent_id: whose memories are meant?", "user_id")
    verdict = judge(new.text, policy=read_policy(tenant_id=caller.tenant_id, agent_id=new.agent_id))
    if verdict.action in ("hold", "refuse"):
        raise Invalid(REFUSED[verdict.reason], "text")
    relevant = _checked(caller, new.user_id, new.agent_id, new.relevant)
    return cases.add_query(caller=caller, new=replace(new, text=verdict.text, relevant=relevant), now=now)


def label_query(
    *, caller: Caller, query_id: UUID, relevant: Sequence[UUID], now: datetime
) -> EvaluationQuery:
    """Puts these labels in place of those that it has. Raises NotFound, Invalid."""
    found = cases.access_query(caller=caller, query_id=query_id)
    checked = _checked(caller, found.user_id, found.agent_id, relevant)
    return cases.label_query(caller=caller, query_id=query_id, relevant=checked, now=now)


def _checked(caller: Caller, user_id: str, agent_id: str, relevant: Sequence[UUID]) -> tuple[UUID, ...]:
    """The labels, each once. Raises Invalid for one that such a query cannot find."""
    for episode_id in relevant:
        try:
            episode = access_episode(caller=caller, episode_id=episode_id)
        except NotFound as error:
            raise Invalid(f"There is no such episode: {episode_id}.", "relevant") from error
        if not _can_find(episode, user_id, agent_id):
            raise Invalid(f"Another's memories: {episode_id}.", "relevant")
    return tuple(dict.fromkeys(relevant))


def _can_find(episode: Episode, user_id: str, agent_id: str) -> bool:
    """A user's memories are asked for whatever the agent; without a user, the agent's."""
    return episode.user_id == user_id if user_id else episode.agent_id == agent_id
