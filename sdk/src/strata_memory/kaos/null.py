"""A memory that keeps nothing, for agents that shall remember nothing."""

from collections.abc import Mapping
from typing import Any

from .events import MemoryEvent, SessionMemory, new_event
from .memory import Memory


class NullMemory(Memory):
    """Every call succeeds and leaves nothing behind."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """Takes what the other memories take, so that it can stand in their place."""

    async def create_session(
        self, app_name: str = "", user_id: str = "", session_id: str | None = None
    ) -> str:
        return session_id or "null-session"

    async def get_session(self, session_id: str) -> SessionMemory | None:
        return None

    async def get_or_create_session(
        self, session_id: str, app_name: str = "agent", user_id: str = "user"
    ) -> str:
        return session_id

    async def add_event(
        self,
        session_id: str,
        event_or_type: MemoryEvent | str | None = None,
        content: Any = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        event: MemoryEvent | None = None,
    ) -> bool:
        return True

    async def get_session_events(
        self, session_id: str, event_types: list[str] | None = None
    ) -> list[MemoryEvent]:
        return []

    async def list_sessions(self, user_id: str | None = None) -> list[str]:
        return []

    async def delete_session(self, session_id: str) -> bool:
        return True

    async def get_memory_stats(self) -> dict[str, int]:
        return {"total_sessions": 0, "total_events": 0, "avg_events_per_session": 0}

    async def cleanup_old_sessions(self, max_age_hours: int = 24) -> int:
        return 0

    def create_event(
        self, event_type: str, content: Any, metadata: Mapping[str, Any] | None = None
    ) -> MemoryEvent:
        return new_event(event_type, content, metadata, prefix="null")
