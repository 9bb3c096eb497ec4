"""How often a retriever asks, and what it makes of texts that come more than once."""

import json
from typing import Any

import httpx
import pytest
from strata_memory import StrataClient
from strata_memory.langchain import StrataRetriever

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
