"""Objects without a client of their own share that of the environment."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from strata_memory import StrataClient
from strata_memory.langchain import ConversationBufferMemory, StrataChatMessageHistory, StrataRetriever

from sdk.tests.sockets import HEAD, keeping, serving

STATS = b'{"total_sessions": 1, "total_events": 2, "avg_events_per_session": 2}'
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n%s" % (len(STATS), STATS)


def asked(client: StrataClient) -> int:
    return client.sessions.stats().total_events


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """The first requests of the connections that were made to the server of the environment."""
    with serving(keeping(WHOLE, threading.Semaphore(0))) as (url, requests):
        monkeypatch.setenv("STRATA_URL", url)
        monkeypatch.setenv("STRATA_API_KEY", "key")
        yield requests


def test_a_history_for_each_call_makes_no_connection_for_each(connections: list[bytes]) -> None:
    for number in range(5):
        history = StrataChatMessageHistory(str(number), user_id=f"user {number}")
        assert asked(history.client) == 2
        assert history.client.user_id == f"user {number}"
    memory = ConversationBufferMemory()
    assert asked(memory.chat_memory.client) == asked(StrataRetriever().client) == 2
    assert (memory.chat_memory.client.user_id, StrataRetriever().client.user_id) == (None, None)
    assert len(connections) == 1


def test_another_key_is_another_client(connections: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    asked(StrataChatMessageHistory("s").client)
    monkeypatch.setenv("STRATA_API_KEY", "other")
    asked(StrataChatMessageHistory("s").client)
    assert [b"Bearer other" in one for one in connections] == [False, True]


def test_threads_have_one_client_though_they_come_at_once(connections: list[bytes]) -> None:
    meeting = threading.Barrier(8)

    def shared(_number: int) -> StrataClient:
        meeting.wait()
        return StrataRetriever().client

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(shared, range(8))
    assert all(one is first for one in others)


def test_a_fork_has_connections_of_its_own(connections: list[bytes]) -> None:
    asked(StrataChatMessageHistory("s").client)
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if asked(StrataChatMessageHistory("s").client) == 2 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert asked(StrataChatMessageHistory("s").client) == 2
    assert len(connections) == 2
