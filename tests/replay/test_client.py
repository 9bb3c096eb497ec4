import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Thread

import httpx
import pytest

from memoryproject.replay.client import ATTEMPTS, LONGEST_WAIT, MemoryClient
from memoryproject.replay.endpoint import Endpoint, find_endpoint
from memoryproject.replay.errors import ReplayError, ServerBusy, ServerFailed

QUERY = {"query": "?", "user_id": "ana", "memory_type": ["message"], "top_k": 10}


def busy(wait: str | None):
    return 503, {} if wait is None else {"Retry-After": wait}, {"title": "Busy"}


@pytest.mark.parametrize(
    ("said", "waited"), [("2", 2.0), (None, 1.0), ("soon", 1.0), ("9999", LONGEST_WAIT), ("-1", 0)]
)
def test_retry_after_is_honoured_within_bounds(strata, client, waits, said, waited):
    strata.planned["POST recall"] = [busy(said)]
    assert client.recall(QUERY)["results"] == []
    assert waits == [waited]


def test_retry_after_may_be_a_date(strata, client, waits):
    then = datetime.now(UTC) + timedelta(seconds=10)
    strata.planned["POST recall"] = [busy(format_datetime(then, usegmt=True))]
    client.recall(QUERY)
    assert 5 < waits[0] <= 10


def test_a_server_that_stays_busy_is_asked_only_a_few_times(strata, client, waits):
    strata.planned["POST recall"] = [busy("1")] * 50
    with pytest.raises(
        ServerFailed, match=f"503 to POST /api/v1/recall: Busy. It was asked {ATTEMPTS} times"
    ):
        client.recall(QUERY)
    assert len(waits) == ATTEMPTS - 1


def test_a_write_that_might_happen_twice_is_not_sent_again(strata, client, waits):
    strata.planned["POST episodes"] = [busy("4")]
    with pytest.raises(ServerBusy) as error:
        client.add_episode({})
    assert error.value.wait == 4.0
    assert len(strata.calls) == 1
    assert waits == []


def test_a_refusal_says_what_the_server_said(strata, client):
    problem = {"title": "Invalid", "status": 422, "detail": "Not stored.", "errors": [{"text": "too long"}]}
    strata.planned["POST episodes"] = [(422, {}, problem)]
    with pytest.raises(ServerFailed) as error:
        client.add_episode({})
    assert str(error.value) == (
        "Strata answered 422 to POST /api/v1/episodes: Invalid; Not stored; {'text': 'too long'}."
    )


@pytest.mark.parametrize("body", [b"<html>", b"[]"])
def test_a_server_that_is_not_strata_is_noticed(strata, client, body):
    strata.planned["POST recall"] = [(200, {}, body), (500, {}, body)]
    with pytest.raises(ServerFailed, match="something else than a JSON object"):
        client.recall(QUERY)
    with pytest.raises(ServerFailed, match="500 to POST /api/v1/recall: Internal Server Error"):
        client.recall(QUERY)


def test_a_wrong_key_is_said(strata):
    with (
        MemoryClient(Endpoint(strata.url, "wrong")) as client,
        pytest.raises(ServerFailed, match=r"401 .*not known"),
    ):
        client.recall(QUERY)


def test_session_ids_may_hold_any_character(strata, client):
    client.add_turns("a/b c%?#ü", "ana", "replay", [{"id": "1"}])
    assert strata.calls == ["POST /sessions/a/b c%?#ü/turns"]


def test_one_connection_serves_all_calls(strata, client):
    for _ in range(3):
        client.recall(QUERY)
    assert len(client._http._transport._pool.connections) == 1


def test_nothing_running_is_said_in_one_sentence():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with MemoryClient(Endpoint(url, "")) as client, pytest.raises(ServerFailed) as error:
        client.recall(QUERY)
    assert str(error.value).startswith(f"No running Strata found at {url}: start it with `make run`")


def test_a_server_that_does_not_answer_is_not_waited_for_forever():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}", "")
        with (
            MemoryClient(endpoint, timeout=httpx.Timeout(0.05)) as client,
            pytest.raises(ServerFailed) as error,
        ):
            client.recall(QUERY)
    assert "did not answer POST /api/v1/recall in time" in str(error.value)


def test_an_answer_cut_in_the_middle_is_said():
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=_answer_half, args=(server,), daemon=True).start()
        endpoint = Endpoint(f"http://127.0.0.1:{server.getsockname()[1]}", "")
        with MemoryClient(endpoint) as client, pytest.raises(ServerFailed, match="was lost during"):
            client.recall(QUERY)


def _answer_half(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"results": [')


@pytest.mark.parametrize("url", ["localhost:8002", "ftp://host", "http://", "http://[", "http://a:b"])
def test_what_is_not_an_address_is_said(url):
    with pytest.raises(ServerFailed, match="is not an address"), MemoryClient(Endpoint(url, "")) as client:
        client.recall(QUERY)


def run_file(home, **values):
    (home / "run.json").write_text(json.dumps(values))


def test_the_server_that_make_run_started_is_found(no_server):
    run_file(no_server, url="http://127.0.0.1:8002/", api_key="k1")
    assert find_endpoint("", "", no_server) == Endpoint("http://127.0.0.1:8002", "k1")


def test_options_win_over_the_environment_and_that_over_make_run(no_server, monkeypatch):
    run_file(no_server, url="http://run", api_key="k1")
    monkeypatch.setenv("STRATA_URL", "http://env")
    monkeypatch.setenv("STRATA_API_KEY", "k2")
    assert find_endpoint("", "", no_server) == Endpoint("http://env", "k2")
    assert find_endpoint("http://option", "k3", no_server) == Endpoint("http://option", "k3")


def test_the_local_key_is_not_sent_to_another_address(no_server):
    run_file(no_server, url="http://127.0.0.1:8002", api_key="k1")
    assert find_endpoint("http://elsewhere", "", no_server).api_key == ""
    assert find_endpoint("http://127.0.0.1:8002/", "", no_server).api_key == "k1"


@pytest.mark.parametrize("content", [None, "", "[]", '{"url": 5}'])
def test_without_any_address_one_sentence_says_what_to_do(no_server, content):
    if content is not None:
        (no_server / "run.json").write_text(content)
    with pytest.raises(ReplayError, match="No running Strata found: start it with `make run`"):
        find_endpoint("", "", no_server)
