"""Before a tool's call: what the agent's memory says of it, for whoever watches the agent. Nothing of it goes
into the prompt, so nothing is entered in the ledger."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from observations.search import search_observations
from observations.types import ObservationFilter, SearchHit
from recall.context import LONGEST_QUERY
from recall.hooks.access import access_spec
from recall.hooks.rules import query_of
from tenants import idempotency
from tenants.agents.spec import AgentSpec, ContextInjectTool
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import breadcrumb
from working.events import append_events
from working.redis import RedisAway
from working.types import NewEvent, SessionAddress

log = logging.getLogger(__name__)
EVENT_TYPE = "hook_context"
LONGEST_QUERY_LEFT = 200  # characters of a query in a breadcrumb
LONGEST_KEPT = 65_536  # characters of an answer: it shows memories, of which it would keep a copy


@dataclass(frozen=True, slots=True)
class Lookup:
    """A query and what it found, best first."""

    query: str
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What a tool's lookups found, in their order."""

    lookups: tuple[Lookup, ...]

    def memories(self) -> list[tuple[SearchHit, str]]:
        """Each memory once, with the first query that found it."""
        found: dict[int, tuple[SearchHit, str]] = {}
        for lookup in self.lookups:
            for hit in lookup.hits:
                found.setdefault(hit.observation.id, (hit, lookup.query))
        return list(found.values())


def look_up(
    *,
    caller: Caller,
    agent: str,
    session_id: str | None,
    user_id: str | None,
    tool: str,
    args: Mapping[str, Any],
    now: datetime,
) -> LookedUp:
    """Searches the agent's project as each of its lookups for the tool says: what matches, never what is only
    recent. With a session, each lookup is an event in its log. Raises NotFound for an agent that is not
    declared; Forbidden."""
    spec = access_spec(caller=caller, agent=agent)
    owner = caller.confine_user(user_id)
    done, skipped = search_for(caller=caller, spec=spec, owner=owner, tool=tool, args=args)
    if session_id and done.lookups:
        address = SessionAddress(session_id, user_id)
        owner = leave_breadcrumbs(
            caller=caller, spec=spec, address=address, tool=tool, lookups=done.lookups, now=now
        )
    _keep(caller, owner, done)
    _trace(done, tool, skipped=skipped)
    return done


def search_for(
    *, caller: Caller, spec: AgentSpec, owner: str, tool: str, args: Mapping[str, Any]
) -> tuple[LookedUp, int]:
    """What the tool's lookups find, and how many of them had nothing to ask. Leaves nothing behind."""
    rules = [rule for rule in spec.tool_hooks.context_inject_tools if rule.tool == tool]
    queries = [(query, rule) for rule in rules if (query := query_of(rule.query, args)[:LONGEST_QUERY])]
    found = LookedUp(tuple(_search(caller, spec, owner, query, rule) for query, rule in queries))
    return found, len(rules) - len(queries)


def _trace(done: LookedUp, tool: str, *, skipped: int) -> None:
    for one in done.lookups:
        if one.hits:
            breadcrumb("hook.context_injected", tool=tool, query=one.query, results=len(one.hits))
        else:
            breadcrumb("hook.context_inject_empty", tool=tool, query=one.query)
    for _ in range(skipped):
        breadcrumb("hook.context_inject_skipped", tool=tool)


def leave_breadcrumbs(
    *,
    caller: Caller,
    spec: AgentSpec,
    address: SessionAddress,
    tool: str,
    lookups: Sequence[Lookup],
    now: datetime,
) -> str:
    """Notes in the session's log what was looked up, one event for each lookup; the session's user. Without
    Redis nothing is noted: a tool does not wait for that."""
    content = [
        {
            "tool": tool,
            "query": one.query[:LONGEST_QUERY_LEFT],
            "memories": [hit.observation.id for hit in one.hits],
        }
        for one in lookups
    ]
    try:
        appended = append_events(
            caller=caller,
            address=address,
            events=[NewEvent(EVENT_TYPE, one, now) for one in content],
            agent_id=spec.name,
            project=caller.project or spec.project,
            now=now,
        )
    except RedisAway:
        log.warning("hook_breadcrumbs_skipped: Redis is away")
        return caller.confine_user(address.user_id)
    return appended.session.user_id


def _search(caller: Caller, spec: AgentSpec, owner: str, query: str, rule: ContextInjectTool) -> Lookup:
    where = ObservationFilter(project=spec.project, user_id=owner or None)
    return Lookup(query, tuple(search_observations(caller=caller, text=query, where=where, limit=rule.limit)))


def _keep(caller: Caller, owner: str, done: LookedUp) -> None:
    """An answer that shows several people's memories cannot be kept as one's: it would outlive the others'
    erasure."""
    people = {owner, *(hit.observation.user_id for hit, _query in done.memories())} - {""}
    with scope(caller.tenant_id):
        idempotency.keep(done, user_id=next(iter(people), ""), longest=LONGEST_KEPT if len(people) < 2 else 0)
