"""After a tool's call: its result saved as the agent's rules say, and the call audited."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from observations.saving import save_observation
from observations.types import NewObservation, Saved
from recall.hooks.access import access_spec
from recall.hooks.captions import Capture, audit, capture
from recall.hooks.rules import ToolResult, Verdict, judge
from tenants import idempotency
from tenants.agents.spec import AgentSpec
from tenants.caller import Caller
from tenants.scope import scope
from tenants.telemetry import breadcrumb
from working.sessions import open_session
from working.types import SessionAddress


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a capture. `place`: its rule's; None for the audit."""

    place: int | None
    saved: Saved


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """What was saved of a result, and the rules of its tool that did not apply."""

    captured: tuple[Captured, ...]
    skipped: tuple[Verdict, ...]


def record_result(
    *, caller: Caller, agent: str, address: SessionAddress, result: ToolResult, now: datetime
) -> RecordedResult:
    """Saves the result once for each of the agent's rules that applies, and an audit if the tool is audited:
    all in one commit, in the agent's project. The session is created before, if it is new and something is
    to be saved.

    Rules that save the same content save it once: the later ones find it. Raises NotFound for an agent that
    is not declared; Forbidden; InvalidObservation.
    """
    spec = access_spec(caller=caller, agent=agent)
    user_id = caller.confine_user(address.user_id)
    verdicts = judge(spec.tool_hooks.memory_save_rules, result)  # takes its time: outside the scope
    captures = _captures(spec, verdicts, result)
    if captures:  # outside the scope, which does not show whether a restricted person has such a session
        project = caller.project or spec.project  # the key's own spelling: by that it is compared
        open_session(caller=caller, address=address, now=now, agent_id=spec.name, project=project)
    with scope(caller.tenant_id):
        captured = tuple(
            Captured(place, save_observation(caller=caller, new=_new(one, spec, address), now=now))
            for place, one in captures
        )
        if captured:
            user_id = captured[0].saved.observation.user_id
        recorded = RecordedResult(captured, tuple(one for one in verdicts if one.refusal))
        idempotency.keep(recorded, user_id=user_id)
    _trace(recorded, result.tool)
    return recorded


def _trace(recorded: RecordedResult, tool: str) -> None:
    for captured in recorded.captured:
        breadcrumb("hook.audit_saved" if captured.place is None else "hook.memory_saved", tool=tool)
    for verdict in recorded.skipped:
        breadcrumb("hook.memory_save_skipped", tool=tool, reason=verdict.refusal)


def _captures(
    spec: AgentSpec, verdicts: Sequence[Verdict], result: ToolResult
) -> list[tuple[int | None, Capture]]:
    """The audit last: it waits for every other call of the same tool, until the commit."""
    captures: list[tuple[int | None, Capture]] = [
        (one.place, capture(one.rule, result)) for one in verdicts if one.refusal is None
    ]
    if result.tool in spec.tool_hooks.audit_tools:
        captures.append((None, audit(result)))
    return captures


def _new(one: Capture, spec: AgentSpec, address: SessionAddress) -> NewObservation:
    return NewObservation(
        session_id=address.session_id,
        user_id=address.user_id,
        type=one.type,
        title=one.title,
        content=one.content,
        project=spec.project,
        scope=one.scope,
        topic_key=one.topic_key,
        tags=one.tags,
    )
