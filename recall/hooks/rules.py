"""What an agent's rules say of a tool's call (AgentOps contract, §3.2). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tenants.agents.patterns import BadPattern, check, matches
from tenants.agents.spec import FROM_TOOL_ARGS, MemorySaveRule

LONGEST_MATCHED = 50_000  # characters of an output or argument that patterns see
QUERY_ARGS = ("command", "query", "path")
Reason = Literal[
    "tool_error", "output_not_matched", "arg_missing", "arg_not_matched", "invalid_regex", "output_empty"
]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's call and what came of it. `error`: why it came to no result; empty if it did. `duration_ms`:
    milliseconds, if they are known."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict)
    output: str = ""
    error: str = ""
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a rule, by its place in the list. `refusal`: why the result is not saved; None: it is."""

    place: int
    rule: MemorySaveRule
    refusal: Reason | None


def judge(rules: Sequence[MemorySaveRule], result: ToolResult) -> list[Verdict]:
    """What every rule of exactly that tool says, in their order."""
    own = [(place, rule) for place, rule in enumerate(rules) if rule.tool == result.tool]
    return [Verdict(place, rule, _refusal(rule, result)) for place, rule in own]


def query_of(query: str, args: Mapping[str, Any]) -> str:
    """What is to be looked up: of the tool's own arguments the first that says something, or the query as it
    stands. Empty: nothing."""
    if query not in ("", FROM_TOOL_ARGS):
        return query
    return first_text(args, QUERY_ARGS)


def first_text(args: Mapping[str, Any], names: Sequence[str]) -> str:
    """The first of the named arguments that is text and not blank; empty if none is."""
    values = (args.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def _refusal(rule: MemorySaveRule, result: ToolResult) -> Reason | None:
    if result.error:
        return "tool_error"
    try:
        refusal = _unmatched(rule, result)
    except BadPattern:  # one that was declared when more was allowed
        return "invalid_regex"
    return refusal or (None if result.output.strip() else "output_empty")


def _unmatched(rule: MemorySaveRule, result: ToolResult) -> Reason | None:
    if rule.match_output is not None and not _found(rule.match_output, result.output):
        return "output_not_matched"
    for name, pattern in rule.match_args.items():
        value = result.args.get(name)
        if not isinstance(value, str) or not value:
            return "arg_missing"
        if not _found(pattern, value):
            return "arg_not_matched"
    return None


def _found(pattern: str, text: str) -> bool:
    check(pattern)
    return matches(pattern, text[:LONGEST_MATCHED])
