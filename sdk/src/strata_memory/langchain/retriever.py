"""Long-term memory as a retriever."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, model_validator

from ..client import StrataClient
from ..errors import ConnectionFailed, DeadlineExceeded, Invalid, InvalidAnswer, ServerError
from ..models.memory import RecallHit
from ..models.several import Decision
from .clients import client_of_environment
from .writing import each

MOST = 200  # results of one recall
NEAREST = 3  # of which one with the same text is the first, but for ties
AWAY = (ConnectionFailed, DeadlineExceeded, InvalidAnswer, ServerError)
FILTERS = ("user_id", "agent_id", "session_id", "project", "memory_type", "topics", "since", "until")
HIDING = ("project", "until")  # of FILTERS: what no new episode can meet
UNWRITTEN = (*HIDING, "since")  # which every new one does


class StrataRetriever(BaseRetriever):
    """The episodes that `POST /api/v1/recall` finds, best first, each text once.

    `search_kwargs` are those of a vector store's retriever: `k`, how many documents, and `filter`, by
    user_id, agent_id, session_id, project, memory_type, topics, since, until. Raises ValueError for any
    other.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: StrataClient = Field(default_factory=client_of_environment, repr=False)
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> "StrataRetriever":
        unknown = self.search_kwargs.keys() - {"k", "filter"} | self._filter.keys() - set(FILTERS)
        if unknown:
            raise ValueError(
                f"search_kwargs are k and a filter by {', '.join(FILTERS)}; not {sorted(unknown)}."
            )
        return self

    @property
    def _filter(self) -> dict[str, Any]:
        return self.search_kwargs.get("filter") or {}

    def _written(self) -> dict[str, Any]:
        """What an episode is created with so that the filter finds it. Raises ValueError."""
        hiding = [name for name in HIDING if self._filter.get(name) is not None]
        if hiding:
            raise ValueError(f"Nothing is stored through a filter by {', '.join(hiding)}: it may hide it.")
        written = {name: value for name, value in self._filter.items() if name not in UNWRITTEN}
        kinds = written.pop("memory_type", None)
        return {**written, "memory_type": kinds[0]} if kinds else written

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if not query.strip():
            return []
        return [
            Document(one.text, id=one.id, metadata=one.model_dump(mode="json", exclude={"text", "id"}))
            for one in self._distinct(query, self.search_kwargs.get("k", 4))
        ]

    def _distinct(self, query: str, k: int) -> list[RecallHit]:
        """The best `k` that say different things: of those with one text the best, and then more are asked
        for, which do not count as accessed."""
        asked = k
        counted: bool | None = None
        while True:
            hits = self._recalled(query, top_k=asked, count_access=counted)
            first = {one.text: one for one in reversed(hits)}
            distinct = [one for one in hits if first[one.text] is one]
            if len(distinct) >= k or len(hits) < asked or asked >= MOST:
                return distinct[:k]
            asked, counted = min(MOST, 2 * asked), False

    def _recalled(self, query: str, **how: Any) -> list[RecallHit]:
        return self.client.recall(query=query, kinds=["episode"], **how, **self._filter).results

    def holds(self, text: str) -> bool:
        """Whether an episode says exactly this, as far as it can be found by its meaning. While the server is
        away none is known to: a write that follows raises why, or is kept by the client's buffer."""
        try:
            nearest = self._recalled(text, top_k=NEAREST, profile="similarity", count_access=False)
        except (Invalid, *AWAY):  # too long to be asked for, or nobody to ask
            return False
        return any(one.text == text for one in nearest)

    def add_documents(self, documents: Sequence[Document]) -> list[str]:
        """Stores each as an episode that the filter finds: of its user, agent and session, with its topics
        and the first of its memory types. Answers their ids; what waits to be approved has none yet. Raises
        ValueError for a filter by project or time, Invalid for what may not be remembered, and Buffered when
        all that could not be sent are kept."""
        whose = self._written()
        stored = each(
            partial(self.client.episodes.create, text=one.page_content, metadata=one.metadata, **whose)
            for one in documents
        )
        return [one.id for one in stored if not isinstance(one, Decision)]
