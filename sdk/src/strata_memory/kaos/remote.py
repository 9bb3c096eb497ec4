"""A memory on a Strata server: it outlives the process, and all replicas of an agent share it."""

import json
import logging
import os
from collections import deque
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic_core import to_jsonable_python

from ..calls import UNSET, Operation
from ..client import AsyncStrataClient
from ..errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Restricted,
    StrataError,
    TooLarge,
    Unauthenticated,
)
from . import operations as does
from .events import MemoryEvent, SessionMemory, new_session_id
from .memory import Memory

logger = logging.getLogger(__name__)

T = TypeVar("T")
OnError = Literal["raise", "drop"]
WRONG_KEY = (Unauthenticated, Forbidden)  # no later call would fare better
NOT_THIS = (BadRequest, NotFound, Conflict, TooLarge, Invalid, Restricted)  # the next call may well be taken
DEEPEST = 100  # levels of nesting that the server takes
PAUSE = 5.0  # seconds that a memory which may drop asks nothing of a server that is away


class RemoteMemory(Memory):
    """The same interface over the server's `/memory` routes; what may be read is what KAOS's limits leave.

    Without `api_key`, `STRATA_API_KEY` is the key; there is none where it is empty. `agent_name` is whose
    sessions these are, where the key names no agent; without either, all agents in the key's reach share one
    memory. `max_events_per_session` shows fewer events than the server does; the limits themselves are the
    server's. `timeout` is in seconds, for a whole call with its `retries`.

    Calls raise the `StrataError`s of the client. With `on_error="drop"` the agent goes on without memory
    instead: what it tells is lost and logged, what it asks for is not there. What the server does not take of
    one call (`BadRequest`, `NotFound`, `Conflict`, `TooLarge`, `Invalid`, `Restricted`) is dropped alone, as
    is content that cannot be told in JSON. After any other failure, as of a server that is away, late or no
    Strata, nothing is tried again for five seconds. What would fail every call raises in any case:
    `Unauthenticated`, `Forbidden`.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None = None,
        agent_name: str | None = None,
        *,
        max_sessions: int = 1000,
        max_events_per_session: int | None = None,
        timeout: float = 10.0,
        retries: int = 2,
        on_error: OnError = "raise",
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if on_error not in {"raise", "drop"}:
            raise ValueError('on_error is "raise" or "drop".')
        key = os.environ.get("STRATA_API_KEY") if api_key is None else api_key
        self._client = AsyncStrataClient(url, key, timeout=timeout, retries=retries, transport=transport)
        # Servers drop what a header has beyond ASCII, and take spaces off its ends.
        self._headers = {} if agent_name is None else {"X-Agent": quote(agent_name, safe="")}
        self._drops = on_error == "drop"
        self._away_until = 0.0
        self.agent_name = agent_name
        self.max_sessions = max_sessions
        self.max_events_per_session = max_events_per_session

    async def create_session(self, app_name: str, user_id: str, session_id: str | None = None) -> str:
        return await self._begin(does.BEGIN, app_name, user_id, session_id or new_session_id())

    async def get_or_create_session(
        self, session_id: str, app_name: str = "agent", user_id: str = "user"
    ) -> str:
        return await self._begin(does.OPEN, app_name, user_id, session_id, create="if_missing")

    async def get_session(self, session_id: str) -> SessionMemory | None:
        try:
            found = await self._of(session_id, does.READ)
        except NotFound:
            return None
        return None if found is None else self._session_of(found)

    async def add_event(
        self,
        session_id: str,
        event_or_type: MemoryEvent | str | None = None,
        content: Any = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        event: MemoryEvent | None = None,
    ) -> bool:
        """One request; its `event_id` makes that of several attempts one event. Of content and metadata bytes
        are sent in base64, half a pair of surrogates as U+FFFD, and what JSON does not know as text."""
        given = event_or_type if event is None else event
        if given is None and await self.get_session(session_id) is None:
            return False
        added = self._event_of(given, content, metadata)
        told = await self._of(session_id, does.ADD, body=added.to_dict())
        if told is not None and not told["added"]:
            logger.warning("No session %s: an event of type %s is not added", session_id, added.event_type)
        return told is not None and told["added"]

    async def get_session_events(
        self, session_id: str, event_types: list[str] | None = None
    ) -> list[MemoryEvent]:
        query = {"event_types": event_types or None}
        try:
            found = await self._of(session_id, does.READ_EVENTS, query=query)
        except NotFound:
            return []
        return [] if found is None else self._events_of(found["events"])

    async def list_sessions(self, user_id: str | None = None) -> list[str]:
        found = await self._ask(does.LIST, query={"user_id": user_id or None})
        return [] if found is None else found["sessions"]

    async def delete_session(self, session_id: str) -> bool:
        told = await self._of(session_id, does.DELETE)
        return told is not None and told["deleted"]

    async def get_memory_stats(self) -> dict[str, int]:
        nothing: does.Stats = {"total_sessions": 0, "total_events": 0, "avg_events_per_session": 0}
        found = await self._ask(does.COUNT) or nothing
        return {
            "total_sessions": found["total_sessions"],
            "total_events": found["total_events"],
            "avg_events_per_session": found["avg_events_per_session"],
        }

    async def cleanup_old_sessions(self, max_age_hours: int = 24) -> int:
        told = await self._ask(does.CLEAN_UP, body={"max_age_hours": max_age_hours})
        return 0 if told is None else told["removed"]

    async def close(self) -> None:
        await self._client.close()

    async def _begin(
        self, operation: Operation[does.Begun], app_name: str, user_id: str, session_id: str, **how: str
    ) -> str:
        """The id is made here, so that several attempts begin one session."""
        body = {"app_name": app_name, "user_id": user_id, "session_id": session_id, **how}
        told = await self._ask(operation, body=body)
        return session_id if told is None else told["session_id"]

    async def _of(self, session_id: str, operation: Operation[T], **asked: Any) -> T | None:
        """About one session; none has an empty id."""
        if not session_id:
            return None
        return await self._ask(operation, path=[session_id], **asked)

    async def _ask(
        self,
        operation: Operation[T],
        *,
        path: Sequence[str] = (),
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> T | None:
        """The answer, or None from a memory that may drop what it cannot tell."""
        named = operation.method, operation.path
        if self._drops and monotonic() < self._away_until:
            logger.warning("%s %s is dropped: the server was away a moment ago", *named)
            return None
        try:
            sent = UNSET if body is None else _plain(body)
            return await self._client.call(
                operation, path=path, query=query, body=sent, headers=self._headers
            )
        except (StrataError, ValueError) as error:
            if not self._drops or isinstance(error, WRONG_KEY):
                raise
            if isinstance(error, StrataError) and not isinstance(error, NOT_THIS):
                self._away_until = monotonic() + PAUSE
            logger.warning("%s %s is dropped: %s", *named, error)
            return None

    def _session_of(self, found: does.Session) -> SessionMemory:
        return SessionMemory(
            session_id=found["session_id"],
            user_id=found["user_id"],
            app_name=found["app_name"],
            events=deque(self._events_of(found["events"]), maxlen=self.max_events_per_session),
            created_at=found["created_at"],
            updated_at=found["updated_at"],
        )

    def _events_of(self, found: list[does.Event]) -> list[MemoryEvent]:
        most = len(found) if self.max_events_per_session is None else self.max_events_per_session
        return [MemoryEvent(**one) for one in found[max(0, len(found) - most) :]]


def _plain(value: Any) -> Any:
    """As JSON knows it. Raises ValueError for what contains itself, or is nested too deeply."""
    try:
        plain = _jsonable(value)
        json.dumps(plain, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # in a text, or of a key already above
        return _jsonable(_mended(value))
    return plain


def _jsonable(value: Any) -> Any:
    return to_jsonable_python(value, fallback=str, inf_nan_mode="null", bytes_mode="base64")


def _mended(value: Any, depth: int = 0) -> Any:
    """With U+FFFD for each half of a pair of surrogates, which no database keeps."""
    if depth > DEEPEST:
        raise ValueError("An event is nested too deeply, or contains itself.")
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {_mended(key, depth + 1): _mended(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mended(one, depth + 1) for one in value]
    return value
