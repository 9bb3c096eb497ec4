"""How often a retriever asks, and what it makes of texts that come more than once."""

import json
from typing import Any

import httpx
import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from strata_memory import StrataClient
from strata_memory.langchain import StrataRetriever, VectorStoreRetrieverMemory

AT = "2026-01-01T00:00:00Z"


def hit(number: int, text: str) -> dict[str, Any]:
    return {
        "kind": "episode", "id": str(number), "text": text, "score": 1.0, "signals": {},
        "memory_type": "semantic", "session_id": None, "user_id": None, "agent_id": None, "topics": [],
        "event_date": None,
        "covers_turns": None, "metadata": {}, "created_at": AT,
    }  # fmt: skip


def told(texts: list[str], k: int) -> tuple[list[str], list[dict[str, Any]]]:
    """What a retriever makes of a memory of these texts, best first, and what it asked for."""
    asked: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(json.loads(request.content))
        found = [hit(at, text) for at, text in enumerate(texts[: asked[-1]["top_k"]])]
        return httpx.Response(200, json={"results": found, "stages": [], "query_used": "q"})

    client = StrataClient("http://strata", "key", transport=httpx.MockTransport(answer))
    found = StrataRetriever(client=client, search_kwargs={"k": k}).invoke("q")
    return [f"{one.id}{one.page_content}" for one in found], asked


@pytest.mark.parametrize(
    ("texts", "k", "found", "asked"),
    [
        (["a", "b", "c"], 2, ["0a", "1b"], [2]),
        (["a", "a", "b", "c", "d"], 3, ["0a", "2b", "3c"], [3, 6]),
        (["a", "a", "a"], 2, ["0a"], [2, 4]),
        (["a"] * 300, 2, ["0a"], [2, 4, 8, 16, 32, 64, 128, 200]),
        ([], 2, [], [2]),
    ],
)
def test_a_text_is_told_once_and_uses_up_one_of_k(
    texts: list[str], k: int, found: list[str], asked: list[int]
) -> None:
    documents, requests = told(texts, k)
    assert documents == found
    assert [one["top_k"] for one in requests] == asked
    assert ["count_access" in one for one in requests] == [False] + [True] * (len(asked) - 1)
    assert {tuple(one["kinds"]) for one in requests} == {("episode",)}


class Reading(BaseRetriever):
    """Finds nothing, and stores nothing."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        return []


def foreign() -> Any:
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=8)).as_retriever()


def test_a_memory_may_be_over_the_retriever_of_another_vector_store() -> None:
    memory = VectorStoreRetrieverMemory(retriever=foreign())
    memory.save_context({"input": "My dog is called Rex."}, {"output": "Noted."})
    told = memory.load_memory_variables({"input": "What is the name of the dog?"})
    assert told == {"history": "Human: My dog is called Rex."}


def test_a_retriever_that_stores_nothing_makes_no_memory() -> None:
    with pytest.raises(TypeError, match="add_documents"):
        VectorStoreRetrieverMemory(retriever=Reading())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "beside",
    [{"user_id": "ana"}, {"agent_id": "planner"}, {"k": 4}, {"client": StrataClient("http://strata")}],
)
@pytest.mark.parametrize("is_foreign", [False, True])
def test_what_a_retriever_says_is_not_said_beside_it(beside: dict[str, Any], is_foreign: bool) -> None:
    retriever = foreign() if is_foreign else StrataRetriever(client=StrataClient("http://strata"))
    with pytest.raises(ValueError, match=f"The retriever says what {next(iter(beside))} would"):
        VectorStoreRetrieverMemory(retriever=retriever, **beside)
