# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The calls of `sessions`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..calls import UNSET, Fields, Maybe
from ..group import Group
from ..inputs import NewEvent, NewTurn
from ..models.sessions import (
    AppendedEvents,
    AppendedTurns,
    CleanedUp,
    EndedSession,
    Event,
    EventPage,
    Session,
    SessionPage,
    SessionStats,
    StartedSession,
    Window,
)
from ..operations import sessions as does
from ..paging import iterate


class SessionsGroup(Group):
    """Conversations: their turns and events, the window that a model sees, their end."""

    def list(
        self,
        *,
        active: bool | None = None,
        agent_id: Maybe[str] = UNSET,
        cursor: str | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        project: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> SessionPage:
        """Sessions, newest activity first.

        active: Only sessions that have not ended (`true`), or only those that have.
        cursor: Where to go on: `next` of the answer before.
        limit: The most results in one answer.
        project: Only of this project.
        """
        return self._client.call(
            does.LIST,
            query={
                "active": active,
                "agent_id": agent_id,
                "cursor": cursor,
                "limit": limit,
                "namespace": namespace,
                "project": project,
                "user_id": user_id,
            },
        )

    def iterate(
        self,
        *,
        active: bool | None = None,
        agent_id: Maybe[str] = UNSET,
        limit: int | None = None,
        namespace: str | None = None,
        project: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[Session]:
        """All of `list`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.list(
                active=active,
                agent_id=agent_id,
                limit=limit,
                namespace=namespace,
                project=project,
                user_id=user_id,
                cursor=cursor,
            )
        )

    def create(
        self,
        *,
        session_id: str | None = None,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        project: str | None = None,
        namespace: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Session:
        """Create or find a session; one that is there keeps its metadata."""
        fields = {
            "session_id": session_id, "user_id": user_id, "agent_id": agent_id, "project": project,
            "namespace": namespace, "metadata": metadata,
        }  # fmt: skip
        return self._client.call(does.CREATE, body=Fields(fields))

    def get(self, session_id: str, *, namespace: str | None = None, user_id: Maybe[str] = UNSET) -> Session:
        """A session."""
        return self._client.call(
            does.GET, path=(session_id,), query={"namespace": namespace, "user_id": user_id}
        )

    def delete(self, session_id: str, *, namespace: str | None = None, user_id: Maybe[str] = UNSET) -> None:
        """Delete working state, log and ledger."""
        return self._client.call(
            does.DELETE, path=(session_id,), query={"namespace": namespace, "user_id": user_id}
        )

    def end(
        self, session_id: str, *, namespace: str | None = None, user_id: Maybe[str] = UNSET
    ) -> EndedSession:
        """End: summary, episode, empty ledger."""
        return self._client.call(
            does.END, path=(session_id,), query={"namespace": namespace, "user_id": user_id}
        )

    def events(
        self,
        session_id: str,
        *,
        cursor: int | None = None,
        event_types: Sequence[str] | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> EventPage:
        """The log, oldest first.

        cursor: Only events after this `seq`: `next` of the answer before.
        event_types: Only events of these types: repeated, or with commas between.
        limit: The most results in one answer.
        """
        return self._client.call(
            does.EVENTS,
            path=(session_id,),
            query={
                "cursor": cursor,
                "event_types": event_types,
                "limit": limit,
                "namespace": namespace,
                "user_id": user_id,
            },
        )

    def iterate_events(
        self,
        session_id: str,
        *,
        event_types: Sequence[str] | None = None,
        limit: int | None = None,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Iterator[Event]:
        """All of `events`, page by page; `limit` is the length of a page."""
        return iterate(
            lambda cursor: self.events(
                session_id,
                event_types=event_types,
                limit=limit,
                namespace=namespace,
                user_id=user_id,
                cursor=cursor,
            )
        )

    def append_event(
        self,
        session_id: str,
        *,
        event_type: str,
        content: Any,
        event_id: str | None = None,
        timestamp: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> AppendedEvents:
        """Append one event or a list.

        content: Whatever such an event tells.
        event_id: The client's own; an event whose id the session knows is not added again.
        timestamp: When it happened; by default now.
        """
        fields = {
            "event_type": event_type, "content": content, "event_id": event_id,
            "timestamp": timestamp, "metadata": metadata,
        }  # fmt: skip
        return self._client.call(
            does.APPEND_EVENT,
            path=(session_id,),
            query={"namespace": namespace, "user_id": user_id},
            body=Fields(fields),
        )

    def append_events(
        self,
        session_id: str,
        events: Sequence[NewEvent | Mapping[str, Any]],
        *,
        namespace: str | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> AppendedEvents:
        """Append one event or a list."""
        return self._client.call(
            does.APPEND_EVENTS,
            path=(session_id,),
            query={"namespace": namespace, "user_id": user_id},
            body=events,
        )

    def start(
        self,
        session_id: str,
        *,
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        query: str | None = None,
        namespace: str | None = None,
    ) -> StartedSession:
        """Create or find a session, with what is known of its user.

        query: Chooses the episodes that are told; without it the newest are.
        """
        fields = {"user_id": user_id, "agent_id": agent_id, "query": query}
        return self._client.call(
            does.START, path=(session_id,), query={"namespace": namespace}, body=Fields(fields)
        )

    def append_turns(
        self,
        session_id: str,
        *,
        turns: Sequence[NewTurn | Mapping[str, Any]],
        user_id: Maybe[str] = UNSET,
        agent_id: Maybe[str] = UNSET,
        namespace: str | None = None,
    ) -> AppendedTurns:
        """Append turns; a known id is a duplicate."""
        fields = {"turns": turns, "user_id": user_id, "agent_id": agent_id}
        return self._client.call(
            does.APPEND_TURNS, path=(session_id,), query={"namespace": namespace}, body=Fields(fields)
        )

    def window(
        self,
        session_id: str,
        *,
        max_tool_result_chars: int | None = None,
        namespace: str | None = None,
        token_budget: int | None = None,
        turns: int | None = None,
        user_id: Maybe[str] = UNSET,
    ) -> Window:
        """The newest exchanges, ready for a chat API.

        max_tool_result_chars: Where the result of a tool is cut off; by default as the policy says.
        token_budget: The most tokens that the messages may take; unlimited by default.
        turns: The newest exchanges to answer; by default as the policy says.
        """
        return self._client.call(
            does.WINDOW,
            path=(session_id,),
            query={
                "max_tool_result_chars": max_tool_result_chars,
                "namespace": namespace,
                "token_budget": token_budget,
                "turns": turns,
                "user_id": user_id,
            },
        )

    def clean_up(self, *, max_age_hours: int) -> CleanedUp:
        """Delete sessions that nobody has used for so long, the oldest first, some hundred at once."""
        fields = {"max_age_hours": max_age_hours}
        return self._client.call(does.CLEAN_UP, body=Fields(fields))

    def stats(self) -> SessionStats:
        """How many sessions and events there are."""
        return self._client.call(does.STATS)
