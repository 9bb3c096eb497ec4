# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `hooks` answers."""

from ..answer import Answer


class FoundMemory(Answer):
    """Part of `LookedUp`."""

    id: int
    type: str
    title: str
    content: str
    """Cut to 300 characters and `...`."""
    rank: float
    """The smaller the better."""
    method: str
    query: str
    """What found it."""


class SavedResult(Answer):
    """Part of `RecordedResult`."""

    observation_id: int
    action: str
    type: str
    title: str
    rule: int | None
    """Its place among memorySaveRules, from 0; null for an audit."""


class SkippedRule(Answer):
    """Part of `RecordedResult`."""

    rule: int
    """Its place among memorySaveRules, from 0."""
    tool: str
    reason: str


class LookedUp(Answer):
    """What `hooks.before_tool` answers."""

    memories: list[FoundMemory]


class RecordedResult(Answer):
    """What `hooks.tool_result` answers."""

    saved: list[SavedResult]
    skipped: list[SkippedRule]
