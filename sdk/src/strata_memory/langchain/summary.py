"""A running summary of the conversation, and its newest exchanges as they were said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from .conversation import ChatMemory
from .digests import digest, extend
from .models import summarise_on

EVENT_TYPE = "conversation_summary"


@dataclass(frozen=True, slots=True)
class _State:
    """The summary, and what was said behind it, with the numbers of the messages in the log."""

    summary: str
    since: list[tuple[int, BaseMessage]]

    def starts(self) -> list[int]:
        """Where exchanges begin in `since`."""
        return [at for at, (_seq, one) in enumerate(self.since) if isinstance(one, HumanMessage)]


@dataclass(kw_only=True)
class ConversationSummaryMemory(ChatMemory):
    """A summary of what was said before the newest exchanges, and these in full.

    When `every` exchanges more than `k` are not summed up, all but `k` are added to the summary: by `llm`, if
    there is one, else the sentences of them that later work needs. The summary is an event of the session's
    log, so that every process that shares the session goes on from it, and it is deleted with the session.
    Raises ValueError for `k` below 0 and `every` below 1.
    """

    llm: BaseLanguageModel[Any] | None = field(default=None, repr=False)
    k: int = 6
    every: int = 6
    _left: int = field(default=0, init=False, repr=False)  # exchanges that may come before the log is read

    def __post_init__(self) -> None:
        if self.k < 0 or self.every < 1:
            raise ValueError("k is at least 0, and every at least 1.")
        super().__post_init__()

    @property
    def buffer(self) -> str:
        """The summary so far."""
        return self._state().summary

    def load_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Summary and newest exchanges; as messages, the summary is a system message before them."""
        state = self._state()
        messages = [message for _seq, message in state.since]
        if self.return_messages:
            leading = [SystemMessage(state.summary)] if state.summary else []
            return {self.memory_key: [*leading, *messages]}
        parts = (state.summary, self._as_text(messages))
        return {self.memory_key: "\n".join(part for part in parts if part)}

    def save_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Appends the exchange, and sums up older ones when enough of them wait."""
        super().save_context(inputs, outputs)
        self._left -= 1
        if self._left < 0:
            self._sum_up()

    def _sum_up(self) -> None:
        state = self._state()
        starts = state.starts()
        self._left = self.k + self.every - len(starts) - 1
        if self._left >= 0:
            return
        end = starts[-self.k] if self.k else len(state.since)
        upto = state.since[end - 1][0]
        self.chat_memory.client.sessions.append_event(
            self.chat_memory.session_id,
            event_type=EVENT_TYPE,
            content=self._extended(state.summary, [message for _seq, message in state.since[:end]]),
            event_id=f"{EVENT_TYPE}:{upto}",  # of two processes that come to it at once, one writes it
            metadata={"upto": upto},
        )
        self._left = self.every - 1

    def _extended(self, summary: str, messages: list[BaseMessage]) -> str:
        if self.llm is not None:
            return summarise_on(self.llm, summary=summary, said=self._as_text(messages))
        speakers = {"human": self.human_prefix, "ai": self.ai_prefix}
        said = [(speakers[one.type], str(one.text)) for one in messages if one.type in speakers]
        return extend(summary, digest(said))

    def _state(self) -> _State:
        summary, upto = "", 0
        for event in self.chat_memory.events_after(0, event_types=[EVENT_TYPE]):
            told = event.metadata.get("upto")
            if isinstance(told, int) and 0 < told < event.seq:  # else it is no summary of ours
                summary, upto = str(event.content), told
        return _State(summary, list(self.chat_memory.messages_after(upto)))
