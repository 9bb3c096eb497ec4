"""What LangChain's classes write while the server is away is kept, all of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from strata_memory import DiskBuffer, StrataClient
from strata_memory.errors import Buffered, ConnectionFailed, Invalid
from strata_memory.langchain import (
    ConversationSummaryMemory,
    StrataChatMessageHistory,
    StrataRetriever,
    VectorStoreRetrieverMemory,
)

SAID = ({"input": "My dog is called Rex."}, {"output": "What a fine name."})


class Server:
    """Refuses connections while it is away, and then does what is sent."""

    def __init__(self) -> None:
        self.is_away = True
        self.done: list[Any] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if self.is_away:
            raise httpx.ConnectError("away")
        self.done.append(json.loads(request.content))
        return httpx.Response(200, json=self._answer(request.url.path))

    def _answer(self, path: str) -> dict[str, Any]:
        if path.endswith("/turns"):
            return {"accepted": 1, "duplicates": 0, "turn_count": 1, "summarised": False}
        fields = dict.fromkeys(
            ("user_id", "agent_id", "project", "session_id", "outcome", "key_decisions", "entities_mentioned",
             "tools_called", "covers_turns", "event_date", "valid_to", "superseded_by", "pinned_at",
             "updated_at"),
        )  # fmt: skip
        at = "2026-01-01T00:00:00Z"
        return fields | {
            "id": "e", "text": "t", "memory_type": "semantic", "namespace": "", "topics": [], "entities": [],
            "metadata": {}, "embedded": False, "valid_from": at, "created_at": at, "version": 1,
            "supersedes": [],
        }  # fmt: skip


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[StrataClient]:
    buffer = DiskBuffer(tmp_path / "waiting")
    transport = httpx.MockTransport(server)
    with StrataClient("http://strata", "key", buffer=buffer, transport=transport, retries=0) as client:
        yield client


def test_messages_of_several_requests_are_all_kept_and_sent_in_their_order(
    server: Server, client: StrataClient
) -> None:
    with pytest.raises(Buffered) as raised:
        StrataChatMessageHistory("s", client=client).add_messages(
            [HumanMessage(str(number)) for number in range(2_500)]
        )
    assert raised.value.waiting == 3
    server.is_away = False
    assert client.flush() == 3
    sent = [turn["content"] for one in server.done for turn in one["turns"]]
    assert sent == [str(number) for number in range(2_500)]


def test_documents_are_all_kept(server: Server, client: StrataClient) -> None:
    with pytest.raises(Buffered):
        StrataRetriever(client=client).add_documents([Document("one"), Document("two")])
    server.is_away = False
    client.flush()
    assert [one["text"] for one in server.done] == ["one", "two"]


def test_an_exchange_is_kept_though_nobody_can_say_whether_it_is_known(
    server: Server, client: StrataClient
) -> None:
    with pytest.raises(Buffered):
        VectorStoreRetrieverMemory(client=client).save_context(*SAID)
    server.is_away = False
    client.flush()
    assert [one["text"] for one in server.done] == ["Human: My dog is called Rex.\nAI: What a fine name."]


def test_without_a_buffer_the_write_says_that_the_server_is_away(server: Server) -> None:
    client = StrataClient("http://strata", "key", transport=httpx.MockTransport(server), retries=0)
    with client, pytest.raises(ConnectionFailed):
        VectorStoreRetrieverMemory(client=client).save_context(*SAID)


def test_another_error_ends_it_at_once() -> None:
    asked: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(422, json={"detail": "No.", "errors": []})

    client = StrataClient("http://strata", "key", transport=httpx.MockTransport(refuse))
    with client, pytest.raises(Invalid):
        StrataRetriever(client=client).add_documents([Document("one"), Document("two")])
    assert len(asked) == 1


@pytest.mark.parametrize("limits", [{"every": 0}, {"every": -1}, {"k": -1}])
def test_a_summary_that_would_forget_or_never_come_is_refused(
    limits: dict[str, int], client: StrataClient
) -> None:
    with pytest.raises(ValueError, match="every at least 1"):
        ConversationSummaryMemory(client=client, session_id="s", **limits)  # type: ignore[arg-type]
