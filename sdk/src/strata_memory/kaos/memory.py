"""What every memory of a KAOS agent can do, wherever it keeps what it is told."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from .events import AGENT_RESPONSE, USER_MESSAGE, MemoryEvent, SessionMemory, new_event

SPEAKERS = {USER_MESSAGE: "User", AGENT_RESPONSE: "Assistant"}
PROMPTS = (USER_MESSAGE, "task_delegation_received")
DELEGATING = "delegate_to_"  # what the names of tools that hand a task to another agent begin with
# Parts of Pydantic AI's messages that are events: the field they tell, the event of a tool, of a delegation.
PARTS = {
    "tool-call": ("arguments", "tool_call", "delegation_request"),
    "tool-return": ("result", "tool_result", "delegation_response"),
}


class Memory(ABC):
    """The interface of KAOS's second generation, which holds that of the first."""

    context_limit: int = 6
    """How many events `build_message_history` goes back to, unless a call says so itself."""

    @abstractmethod
    async def create_session(self, app_name: str, user_id: str, session_id: str | None = None) -> str:
        """Begins an empty session and answers its id; one of the same id is replaced by it."""

    @abstractmethod
    async def get_session(self, session_id: str) -> SessionMemory | None:
        """The session with its events; None for one that is not known."""

    @abstractmethod
    async def get_or_create_session(
        self, session_id: str, app_name: str = "agent", user_id: str = "user"
    ) -> str:
        """The same id, of a session that is there now."""

    @abstractmethod
    async def add_event(
        self,
        session_id: str,
        event_or_type: MemoryEvent | str | None = None,
        content: Any = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        event: MemoryEvent | None = None,
    ) -> bool:
        """Adds an event, or a new one of that type; False when the session is not known. Raises TypeError for
        None, where there is a session that it could be added to."""

    @abstractmethod
    async def get_session_events(
        self, session_id: str, event_types: list[str] | None = None
    ) -> list[MemoryEvent]:
        """The session's events, oldest first, of the given types if there are any."""

    @abstractmethod
    async def list_sessions(self, user_id: str | None = None) -> list[str]:
        """Ids in the order in which the sessions began."""

    @abstractmethod
    async def delete_session(self, session_id: str) -> bool:
        """Deletes the session; False when it is not known."""

    @abstractmethod
    async def get_memory_stats(self) -> dict[str, int]:
        """`total_sessions`, `total_events`, `avg_events_per_session` (rounded down)."""

    @abstractmethod
    async def cleanup_old_sessions(self, max_age_hours: int = 24) -> int:
        """Deletes the sessions that were last updated longer ago, and answers how many."""

    async def close(self) -> None:  # noqa: B027  # most memories have nothing to close
        """Lets go of connections. What was told stays where it is kept."""

    def create_event(
        self, event_type: str, content: Any, metadata: Mapping[str, Any] | None = None
    ) -> MemoryEvent:
        """An event that is not added yet; with `trace_id` and `span_id` in a trace of OpenTelemetry."""
        return new_event(event_type, content, metadata)

    async def build_conversation_context(self, session_id: str, max_events: int = 20) -> str:
        """The last messages of user and agent, one `User: …` or `Assistant: …` below the other."""
        events = await self.get_session_events(session_id, list(SPEAKERS))
        recent = events[-max_events:] if len(events) > max_events else events
        return "\n".join(f"{SPEAKERS[one.event_type]}: {one.content}" for one in recent)

    async def build_message_history(
        self, session_id: str, context_limit: int | None = None
    ) -> list[Any] | None:
        """What was said before the newest prompt, as messages of Pydantic AI; None for nothing.

        `context_limit` counts events of any type, 0 leaves none out, None is the memory's own limit. Raises
        ImportError without Pydantic AI.
        """
        from pydantic_ai.messages import (  # type: ignore[import-not-found, unused-ignore]  # may be missing
            ModelRequest,
            ModelResponse,
            TextPart,
            UserPromptPart,
        )

        events = await self.get_session_events(session_id)
        prompts = [place for place, one in enumerate(events) if one.event_type in PROMPTS]
        if prompts:
            del events[prompts[-1]]
        elif len(events) == 1:
            return None
        limit = self.context_limit if context_limit is None else context_limit
        history: list[Any] = []
        for one in events[-limit:]:
            if one.event_type in PROMPTS:
                history.append(ModelRequest(parts=[UserPromptPart(content=str(one.content))]))
            elif one.event_type == AGENT_RESPONSE:
                history.append(ModelResponse(parts=[TextPart(content=str(one.content))]))
        return history or None

    async def store_pydantic_message(self, session_id: str, msg: Any) -> None:
        """Adds an event for each tool call and each tool's answer of a message of Pydantic AI."""
        for part in getattr(msg, "parts", ()):
            if part.part_kind not in PARTS:
                continue
            field, of_tool, of_agent = PARTS[part.part_kind]
            told = part.args if field == "arguments" else _readable(part.content)
            event_type = of_agent if part.tool_name.startswith(DELEGATING) else of_tool
            await self.add_event(session_id, event_type, {"tool": part.tool_name, field: told})

    def _event_of(
        self, given: MemoryEvent | str | None, content: Any, metadata: Mapping[str, Any] | None
    ) -> MemoryEvent:
        """The event that a call of `add_event` means. Raises TypeError for none."""
        if isinstance(given, str):
            return self.create_event(given, content, metadata)
        if given is None:
            raise TypeError("add_event() needs an event or an event type")
        return given


def _readable(result: Any) -> Any:
    """A tool's answer as JSON where it is that, else as text."""
    if isinstance(result, dict | list):
        return result
    if not isinstance(result, str):
        return str(result)
    try:
        return json.loads(result)
    except ValueError:
        return result
