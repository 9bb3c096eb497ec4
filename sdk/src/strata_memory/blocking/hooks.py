# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `hooks`."""

from collections.abc import Mapping
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..models.hooks import LookedUp, RecordedResult
from ..operations import hooks as does


class HooksGroup(Group):
    """What is asked before a tool is called, and told after it."""

    def before_tool(
        self,
        *,
        agent: str,
        tool: str,
        args: Mapping[str, Any] | None,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> LookedUp:
        """Look up what the agent's memory says of a tool's call.

        session_id: Whose log is to tell what was looked up.
        """
        fields = {"agent": agent, "tool": tool, "args": args, "session_id": session_id, "user_id": user_id}
        return self._client.call(does.BEFORE_TOOL, body=Fields(fields))

    def tool_result(
        self,
        *,
        agent: str,
        session_id: str,
        tool: str,
        args: Mapping[str, Any] | None,
        user_id: Maybe[str] = UNSET,
        output: str | None = None,
        error: str | None = None,
        duration_ms: int | None = None,
    ) -> RecordedResult:
        """Save a tool's result as the agent's rules say.

        error: Why the tool came to no result.
        """
        fields = {
            "agent": agent, "session_id": session_id, "tool": tool, "args": args, "user_id": user_id,
            "output": output, "error": error, "duration_ms": duration_ms,
        }  # fmt: skip
        return self._client.call(does.TOOL_RESULT, body=Fields(fields))
