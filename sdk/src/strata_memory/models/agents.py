# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `agents` answers."""

from datetime import datetime

from pydantic import Field

from ..answer import Answer


class ContextInjectTool(Answer):
    """Part of `ToolHooks`."""

    tool: str
    query: str | None = None
    limit: int | None = None


class KaosMemory(Answer):
    """Part of `AgentDocument`."""

    enabled: bool | None = None
    type: str | None = None
    context_limit: int | None = Field(None, alias="contextLimit")
    max_sessions: int | None = Field(None, alias="maxSessions")
    max_session_events: int | None = Field(None, alias="maxSessionEvents")


class Memory(Answer):
    """Part of `AgentDocument`."""

    server_ref: str | None = Field(None, alias="serverRef")
    project: str | None = None
    """By default the agent's name; case does not matter."""
    context_limit: int | None = Field(None, alias="contextLimit")
    window_size: int | None = Field(None, alias="windowSize")
    auto_summarize: bool | None = Field(None, alias="autoSummarize")
    auto_save: bool | None = Field(None, alias="autoSave")
    auto_search: bool | None = Field(None, alias="autoSearch")


class MemorySaveRule(Answer):
    """Part of `ToolHooks`."""

    tool: str
    match_output: str | None = Field(None, alias="matchOutput")
    """An RE2 pattern."""
    match_args: dict[str, str] | None = Field(None, alias="matchArgs")
    """RE2 patterns by argument."""
    type: str | None = None
    scope: str | None = None


class ToolHooks(Answer):
    """Part of `AgentDocument`."""

    blocked_commands: list[str] | None = Field(None, alias="blockedCommands")
    allowed_paths: list[str] | None = Field(None, alias="allowedPaths")
    audit_tools: list[str] | None = Field(None, alias="auditTools")
    memory_save_rules: list[MemorySaveRule] | None = Field(None, alias="memorySaveRules")
    context_inject_tools: list[ContextInjectTool] | None = Field(None, alias="contextInjectTools")


class AgentDocument(Answer):
    """What is declared; a Kubernetes resource (`apiVersion`, `kind`, `metadata`, `spec`) has the same
    blocks in its `spec`, KAOS's as `config.memory`."""

    memory: Memory | None = None
    tool_hooks: ToolHooks | None = Field(None, alias="toolHooks")
    kaos: KaosMemory | None = None


class DeclaredAgent(Answer):
    """What `agents.get` answers."""

    name: str
    spec: AgentDocument
    version: int
    """Counts its changes."""
    created_at: datetime
    updated_at: datetime


class DeclaredAgentPage(Answer):
    """A page of `DeclaredAgent`; with `next` as `cursor` comes the one behind it."""

    results: list[DeclaredAgent]
    next: str | None
