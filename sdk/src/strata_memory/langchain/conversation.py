"""What the memory classes share: which of a chain's values were said, and by whom."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, get_buffer_string
from langchain_core.runnables.config import run_in_executor

from ..client import StrataClient
from .history import StrataChatMessageHistory


@dataclass(kw_only=True)
class Memory(ABC):
    """The methods of LangChain's `BaseMemory`, which langchain-core has no more."""

    memory_key: str = "history"
    input_key: str | None = None

    @property
    def memory_variables(self) -> list[str]:
        """The names that this memory fills in a prompt."""
        return [self.memory_key]

    @abstractmethod
    def load_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """What a prompt shall tell of the past, under `memory_key`."""

    @abstractmethod
    def save_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Keeps an exchange."""

    @abstractmethod
    def clear(self) -> None:
        """Forgets the conversation."""

    async def aload_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """As `load_memory_variables`, in a thread."""
        return await run_in_executor(None, self.load_memory_variables, inputs)

    async def asave_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """As `save_context`, in a thread."""
        await run_in_executor(None, self.save_context, inputs, outputs)

    async def aclear(self) -> None:
        """As `clear`, in a thread."""
        await run_in_executor(None, self.clear)

    def _asked(self, inputs: Mapping[str, Any]) -> Any:
        """The chain's input. Raises ValueError when it cannot be told which of several it is."""
        if self.input_key is not None:
            return inputs[self.input_key]
        names = [name for name in inputs if name not in (*self.memory_variables, "stop")]
        if len(names) != 1:
            raise ValueError(f"One input is expected; of {sorted(names)}, input_key has to name it.")
        return inputs[names[0]]


@dataclass(kw_only=True)
class ChatMemory(Memory):
    """A memory of one session's messages.

    The session is that of `chat_memory`, or the one that `session_id`, `client`, `user_id` and `agent_id`
    name; without a `session_id` it is a new one.
    """

    chat_memory: StrataChatMessageHistory = None  # type: ignore[assignment]  # made from what follows
    session_id: str | None = None
    client: StrataClient | None = field(default=None, repr=False)
    user_id: str | None = None
    agent_id: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    human_prefix: str = "Human"
    ai_prefix: str = "AI"

    def __post_init__(self) -> None:
        if cast(Any, self.chat_memory) is None:
            self.session_id = self.session_id or str(uuid.uuid4())
            self.chat_memory = StrataChatMessageHistory(
                self.session_id, client=self.client, user_id=self.user_id, agent_id=self.agent_id
            )
        self.session_id, self.client = self.chat_memory.session_id, self.chat_memory.client

    def save_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Appends the chain's input and its output as messages of a person and of the agent."""
        said = [HumanMessage(str(self._asked(inputs))), AIMessage(str(self._answered(outputs)))]
        self.chat_memory.add_messages(said)

    def clear(self) -> None:
        """Deletes the session; what became an episode of it stays."""
        self.chat_memory.clear()

    def _answered(self, outputs: Mapping[str, Any]) -> Any:
        if self.output_key is not None:
            return outputs[self.output_key]
        if len(outputs) == 1:
            return next(iter(outputs.values()))
        if "output" in outputs:
            return outputs["output"]
        raise ValueError(f"One output is expected; of {sorted(outputs)}, output_key has to name it.")

    def _as_text(self, messages: list[BaseMessage]) -> str:
        return get_buffer_string(messages, human_prefix=self.human_prefix, ai_prefix=self.ai_prefix)
