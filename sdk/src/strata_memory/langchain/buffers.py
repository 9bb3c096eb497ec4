"""The whole conversation, and its newest exchanges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from .conversation import ChatMemory


@dataclass(kw_only=True)
class ConversationBufferMemory(ChatMemory):
    """Every message of the session, however many there are."""

    @property
    def buffer_as_messages(self) -> list[BaseMessage]:
        """What is remembered, as messages."""
        return self.chat_memory.messages

    @property
    def buffer_as_str(self) -> str:
        """What is remembered, a line for each message."""
        return self._as_text(self.buffer_as_messages)

    @property
    def buffer(self) -> str | list[BaseMessage]:
        """What is remembered, in the form that `return_messages` asks for."""
        return self.buffer_as_messages if self.return_messages else self.buffer_as_str

    def load_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The conversation, as text or as messages."""
        return {self.memory_key: self.buffer}


@dataclass(kw_only=True)
class ConversationBufferWindowMemory(ConversationBufferMemory):
    """The newest `k` exchanges, a person's message and what follows it, from the server's window."""

    k: int = 5

    @property
    def buffer_as_messages(self) -> list[BaseMessage]:
        """The newest exchanges, as messages."""
        return self.chat_memory.newest(self.k)
