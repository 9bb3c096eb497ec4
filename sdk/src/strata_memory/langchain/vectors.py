"""Exchanges that were had before, found again by what they were about."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.documents import Document
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import SystemMessage
from langchain_core.vectorstores import VectorStoreRetriever

from ..client import StrataClient
from ..errors import Invalid
from .clients import owned
from .conversation import Memory
from .digests import digest
from .models import summarise_exchange
from .retriever import StrataRetriever

logger = logging.getLogger(__name__)

OF_RETRIEVER = ("client", "user_id", "agent_id", "k")


@dataclass(kw_only=True)
class VectorStoreRetrieverMemory(Memory):
    """Remembers exchanges for good and tells the `k` that come nearest to the new input.

    Whose they are, and how many, says the `retriever`, or say `user_id`, `agent_id`, `client` and `k` (4).
    Another store's `retriever` will do if it has `add_documents`; it is not asked what it has already. Raises
    ValueError for a `retriever` beside any of those four, TypeError for one that stores nothing.

    What is kept of an exchange is a summary, since small talk and whole transcripts crowd out what matters:
    by `llm`, or by the function that `summarise` is, else the sentences that are no small talk, as they were
    said: without `llm` a short exchange is not condensed. One that leaves nothing to say is not kept, and
    none that says what is kept already. With `summarise=False` it is kept word for word.
    """

    # Made from what follows, unless it is given.
    retriever: StrataRetriever | VectorStoreRetriever = None  # type: ignore[assignment]
    client: StrataClient | None = field(default=None, repr=False)
    user_id: str | None = None
    agent_id: str | None = None
    k: int | None = None
    exclude_input_keys: Sequence[str] = ()
    return_docs: bool = False
    return_messages: bool = False
    human_prefix: str = "Human"
    ai_prefix: str = "AI"
    summarise: bool | Callable[[str], str] = True
    llm: BaseLanguageModel[Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if cast(Any, self.retriever) is None:
            client = owned(self.client, user_id=self.user_id, agent_id=self.agent_id)
            kwargs = {} if self.k is None else {"k": self.k}
            self.retriever = StrataRetriever(client=client, search_kwargs=kwargs)
            return
        ignored = [name for name in OF_RETRIEVER if getattr(self, name) is not None]
        if ignored:
            raise ValueError(f"The retriever says what {', '.join(ignored)} would: give either.")
        if not callable(getattr(self.retriever, "add_documents", None)):
            raise TypeError("The retriever needs add_documents, as vectorstore.as_retriever() has.")

    def load_memory_variables(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """What was remembered about the input: as text, as one system message, or as documents."""
        found = self.retriever.invoke(str(self._asked(inputs)))
        if self.return_docs:
            return {self.memory_key: found}
        text = "\n".join(one.page_content for one in found)
        if self.return_messages:
            return {self.memory_key: [SystemMessage(text)] if text else []}
        return {self.memory_key: text}

    def save_context(self, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Remembers the exchange. What the server's policy forbids is not, and the conversation goes on."""
        left_out = {*self.exclude_input_keys, self.memory_key}
        asked = {name: str(value) for name, value in inputs.items() if name not in left_out}
        text = self._kept(asked, {name: str(value) for name, value in outputs.items()})
        if not text.strip() or (isinstance(self.retriever, StrataRetriever) and self.retriever.holds(text)):
            return
        try:
            self.retriever.add_documents([Document(text)])
        except Invalid as error:
            logger.info("An exchange is not remembered: %s", error.detail)

    def clear(self) -> None:
        """Nothing: what is remembered belongs to the user, not to this conversation."""

    def _kept(self, asked: Mapping[str, str], answered: Mapping[str, str]) -> str:
        raw = "\n".join(f"{name}: {text}" for name, text in (*asked.items(), *answered.items()))
        if callable(self.summarise):
            return self.summarise(raw)
        if not self.summarise:
            return raw
        if self.llm is not None:
            return summarise_exchange(self.llm, said=raw)
        said = [(self.human_prefix, text) for text in asked.values()]
        return digest([*said, *((self.ai_prefix, text) for text in answered.values())])
