# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What arguments are made of: words that are fixed, and objects by their fields."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypedDict

Distance = Literal["cosine", "l2", "inner_product"]
Events = Literal[
    "memory.created",
    "memory.updated",
    "memory.retracted",
    "memory.erased",
    "subject.erased",
    "subject.exported",
]
Include = Literal["session", "entities", "episodes", "summary", "window", "procedures"]
KaosMemoryType = Literal["local", "redis"]
MatchType = Literal["prefix", "suffix"]
MemoryType = Literal["episodic", "semantic", "message"]
Profile = Literal["hybrid", "fused", "recency", "similarity", "keyword"]
RecalledKind = Literal["episode", "entity", "observation"]
Role = Literal["user", "assistant", "system", "tool"]
Scope = Literal["project", "global"]
SearchMode = Literal["semantic", "keyword", "hybrid"]
ToldKind = Literal["episode", "entity", "observation", "document"]
Verdict = Literal["helpful", "not_helpful", "harmful"]


class ContextInjectToolInput(TypedDict, total=False):
    """An object of a request, by its fields."""

    tool: Required[str]
    query: str
    limit: int


class DocumentFilters(TypedDict, total=False):
    """An object of a request, by its fields."""

    project: str | None
    source: str | None
    title: str | None
    metadata: Mapping[str, Any]
    """What a document's must hold."""


class FieldVector(TypedDict, total=False):
    """An object of a request, by its fields."""

    path: Required[str]
    vector: Required[Sequence[float]]


class MemoryInput(TypedDict, total=False):
    """An object of a request, by its fields."""

    serverRef: str
    project: str
    """By default the agent's name; case does not matter."""
    contextLimit: int
    windowSize: int
    autoSummarize: bool
    autoSave: bool
    autoSearch: bool


class NewEvent(TypedDict, total=False):
    """An object of a request, by its fields."""

    event_id: str | None
    """The client's own; an event whose id the session knows is not added again."""
    event_type: Required[str]
    content: Required[Any]
    """Whatever such an event tells."""
    timestamp: datetime | str | None
    """When it happened; by default now."""
    metadata: Mapping[str, Any]


class KaosMemoryInput(TypedDict, total=False):
    """An object of a request, by its fields."""

    enabled: bool
    type: KaosMemoryType
    contextLimit: int
    maxSessions: int
    maxSessionEvents: int


class MatchCondition(TypedDict, total=False):
    """An object of a request, by its fields."""

    match_type: Required[MatchType]
    path: Required[Sequence[str]]


class MemorySaveRuleInput(TypedDict, total=False):
    """An object of a request, by its fields."""

    tool: Required[str]
    matchOutput: str
    """An RE2 pattern."""
    matchArgs: Mapping[str, str]
    """RE2 patterns by argument."""
    type: str
    scope: Scope


class NewTurn(TypedDict, total=False):
    """An object of a request, by its fields."""

    id: str | None
    """The client's own; a turn whose id the session knows is not added again."""
    role: Required[Role]
    content: Required[str | None]
    """What was said; null beside `tool_calls`."""
    tool_calls: Sequence[Mapping[str, Any]] | None
    tool_call_id: str | None
    name: str | None
    created_at: datetime | str | None
    """When it was said; by default now."""
    metadata: Mapping[str, Any]


class ToolHooksInput(TypedDict, total=False):
    """An object of a request, by its fields."""

    blockedCommands: Sequence[str]
    allowedPaths: Sequence[str]
    auditTools: Sequence[str]
    memorySaveRules: Sequence[MemorySaveRuleInput | Mapping[str, Any]]
    contextInjectTools: Sequence[ContextInjectToolInput | Mapping[str, Any]]
