"""A session's log as a chat history."""

from collections.abc import Iterator, Sequence
from functools import partial

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from ..client import StrataClient
from ..errors import NotFound
from ..models.sessions import Event
from .clients import owned
from .messages import message_of, spoken, turn_of
from .writing import each

MOST_AT_ONCE = 1_000  # turns of one request
LONGEST_PAGE = 200


class StrataChatMessageHistory(BaseChatMessageHistory):
    """The turns of one session, whoever appended them; what LangChain appends comes back as it was.

    `user_id` and `agent_id` are whose session it is, if not the client's; several processes may append to one
    session at the same time. A message whose `id` the session knows is not added again. The asynchronous
    methods wait in a thread. Every method raises the `StrataError`s of the client.
    """

    def __init__(
        self,
        session_id: str,
        *,
        client: StrataClient | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
    ) -> None:
        super().__init__()
        self.session_id = session_id
        self.client = owned(client, user_id=user_id, agent_id=agent_id)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain's own histories do so too
        """All of the session's messages, oldest first; none of an unknown session."""
        return [message for _seq, message in self.messages_after(0)]

    def messages_after(self, seq: int) -> Iterator[tuple[int, BaseMessage]]:
        """Messages whose number in the log is above `seq`, with their numbers."""
        for event in self.events_after(seq):
            message = message_of(event)
            if message is not None:
                yield event.seq, message

    def events_after(self, seq: int, *, event_types: Sequence[str] | None = None) -> Iterator[Event]:
        """What the log has behind that number, of those types if any are named."""
        cursor: int | None = seq
        while cursor is not None:
            try:
                page = self.client.sessions.events(
                    self.session_id, cursor=cursor, event_types=event_types, limit=LONGEST_PAGE
                )
            except NotFound:
                return
            yield from page.results
            cursor = None if page.next is None else int(page.next)

    def newest(self, exchanges: int) -> list[BaseMessage]:
        """The messages of the newest exchanges, a person's message and what follows it. From the server's
        window: what the tenant's policy has left to a summary is not among them."""
        if exchanges < 1:
            return []
        try:
            window = self.client.sessions.window(self.session_id, turns=exchanges)
        except NotFound:
            return []
        told = [one.model_dump() for one in window.messages]
        if told and told[0]["role"] == "system" and told[0]["content"] == window.summary:
            del told[0]
        return [spoken(one.pop("role"), one.pop("content") or "", **one) for one in told]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Appends them; the session begins with the first. Raises Buffered when all that could not be sent
        are kept."""
        turns = [turn_of(message) for message in messages]
        append = partial(self.client.sessions.append_turns, self.session_id)
        parts = (turns[start : start + MOST_AT_ONCE] for start in range(0, len(turns), MOST_AT_ONCE))
        each(partial(append, turns=part) for part in parts)

    def clear(self) -> None:
        """Deletes the session: its log, its summary, its ledger. What became an episode of it stays."""
        try:
            self.client.sessions.delete(self.session_id)
        except NotFound:
            return
