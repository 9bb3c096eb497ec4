"""A memory in this process, gone with it."""

import logging
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from operator import attrgetter
from typing import Any

from .events import MemoryEvent, SessionMemory, new_session_id, utcnow
from .memory import Memory

logger = logging.getLogger(__name__)


class LocalMemory(Memory):
    """Sessions in a dictionary, their events in ring buffers.

    With `max_sessions` of them, beginning another one lets go of the tenth that was updated longest ago. Each
    instance has sessions of its own. Nothing waits in it, so that coroutines of one event loop never see a
    change half done.
    """

    def __init__(self, max_sessions: int = 1000, max_events_per_session: int = 500) -> None:
        self._sessions: dict[str, SessionMemory] = {}
        self.max_sessions = max_sessions
        self.max_events_per_session = max_events_per_session

    async def create_session(self, app_name: str, user_id: str, session_id: str | None = None) -> str:
        session_id = session_id or new_session_id()
        now = utcnow()
        self._make_room()
        self._sessions[session_id] = SessionMemory(
            session_id=session_id,
            user_id=user_id,
            app_name=app_name,
            events=deque(maxlen=self.max_events_per_session),
            created_at=now,
            updated_at=now,
        )
        return session_id

    async def get_session(self, session_id: str) -> SessionMemory | None:
        return self._sessions.get(session_id)

    async def get_or_create_session(
        self, session_id: str, app_name: str = "agent", user_id: str = "user"
    ) -> str:
        if session_id not in self._sessions:
            await self.create_session(app_name, user_id, session_id)
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
        session = self._sessions.get(session_id)
        if session is None:
            logger.warning("No session %s: an event is not added", session_id)
            return False
        given = event_or_type if event is None else event
        session.events.append(self._event_of(given, content, metadata))
        session.updated_at = utcnow()
        return True

    async def get_session_events(
        self, session_id: str, event_types: list[str] | None = None
    ) -> list[MemoryEvent]:
        session = self._sessions.get(session_id)
        if session is None:
            return []
        return [one for one in session.events if not event_types or one.event_type in event_types]

    async def list_sessions(self, user_id: str | None = None) -> list[str]:
        return [name for name, one in self._sessions.items() if not user_id or one.user_id == user_id]

    async def delete_session(self, session_id: str) -> bool:
        return self._sessions.pop(session_id, None) is not None

    async def get_memory_stats(self) -> dict[str, int]:
        sessions, events = len(self._sessions), sum(len(one.events) for one in self._sessions.values())
        return {
            "total_sessions": sessions,
            "total_events": events,
            "avg_events_per_session": events // sessions if sessions else 0,
        }

    async def cleanup_old_sessions(self, max_age_hours: int = 24) -> int:
        since = utcnow() - timedelta(hours=max_age_hours)
        old = [name for name, one in self._sessions.items() if one.updated_at < since]
        for name in old:
            del self._sessions[name]
        return len(old)

    def _make_room(self) -> None:
        """Lets go of the tenth that was updated longest ago, if no more sessions may be held.

        Whoever holds a session may have changed its `updated_at`, so the order is made anew, but only once
        for every tenth of the sessions that begins: for each, no more than 19 are looked at.
        """
        if len(self._sessions) < self.max_sessions:
            return
        by_age = sorted(self._sessions.values(), key=attrgetter("updated_at"))
        for session in by_age[: max(1, self.max_sessions // 10)]:
            del self._sessions[session.session_id]


InMemorySessionService = LocalMemory
