"""What a tool is, apart from any protocol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from api.mcp.connection import Connection
from tenants.agents.spec import Memory
from tenants.caller import Scope

Arguments = Mapping[str, Any]


class ToolError(Exception):
    """A call that failed, in the words that the model is told."""


class UnknownTool(Exception):
    """There is no such tool, or none for this caller."""


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """`run` does one call and answers the text for the model; it raises ToolError. `allowed_by` is what an
    agent's settings must say for its keys to see the tool. `schema` is the JSON schema of the arguments.
    `destroys`: what a call takes away is gone for good."""

    name: str
    title: str
    description: str
    schema: dict[str, Any]
    scope: Scope
    run: Callable[[Connection, Arguments], str]
    allowed_by: Callable[[Memory], bool] | None = None
    destroys: bool = False

    @property
    def reads_only(self) -> bool:
        """Whether a call leaves the memory as it is."""
        return self.scope == "read"
