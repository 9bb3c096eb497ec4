"""What an agent's hooks would do with a tool's call: tried on a sample, with nothing written."""

from dataclasses import dataclass

from recall.hooks.access import access_spec
from recall.hooks.captions import Capture, audit, capture
from recall.hooks.lookups import Lookup, search_for
from recall.hooks.rules import ToolResult, Verdict, judge
from tenants.agents.spec import AgentSpec
from tenants.caller import Caller


@dataclass(frozen=True, slots=True)
class Judged:
    """What a rule says, and what would be saved; None if nothing is."""

    verdict: Verdict
    saves: Capture | None


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """`elsewhere`: tools that have rules, when this one has none. `asks_nothing`: lookups that find nothing
    to ask for in the arguments."""

    judged: tuple[Judged, ...]
    audits: Capture | None
    lookups: tuple[Lookup, ...]
    asks_nothing: int
    elsewhere: tuple[str, ...]


def rehearse(*, caller: Caller, agent: str, result: ToolResult, user_id: str = "") -> Rehearsal:
    """As `record_result` and `look_up` do. Raises NotFound for an agent that is not declared; Forbidden."""
    spec = access_spec(caller=caller, agent=agent)
    owner = caller.confine_user(user_id or None)
    hooks = spec.tool_hooks
    judged = tuple(
        Judged(one, capture(one.rule, result) if one.refusal is None else None)
        for one in judge(hooks.memory_save_rules, result)
    )
    found, asks_nothing = search_for(
        caller=caller, spec=spec, owner=owner, tool=result.tool, args=result.args
    )
    tools = tools_of(spec)
    return Rehearsal(
        judged=judged,
        audits=audit(result) if result.tool in hooks.audit_tools else None,
        lookups=found.lookups,
        asks_nothing=asks_nothing,
        elsewhere=() if result.tool in tools else tools,
    )


def tools_of(spec: AgentSpec) -> tuple[str, ...]:
    """The tools that the agent has hooks for, by name."""
    hooks = spec.tool_hooks
    saving = {rule.tool for rule in hooks.memory_save_rules}
    looking = {rule.tool for rule in hooks.context_inject_tools}
    return tuple(sorted(saving | looking | set(hooks.audit_tools)))
