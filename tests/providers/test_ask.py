"""One endpoint: retries, deadlines, the breaker, and what is counted and logged."""

import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from providers.breaker import Breaker
from providers.fake import FakeProvider
from providers.metering import metering
from providers.openai.endpoint import Endpoint, Rejected, Unreachable
from tests.providers.outside import MODEL, endpoint_of, patient_breaker, seconds_of

PATH = "/v1/embeddings"
TEXT = "Kim's card ends in 4411."


def ask(endpoint, *, seconds=5.0, text=TEXT, read=lambda answer: answer):
    return endpoint.ask(
        "/embeddings",
        {"model": MODEL, "input": [text]},
        purpose="embed",
        deadline=time.monotonic() + seconds,
        read=read,
    )


def refused(endpoint, **named) -> tuple[Unreachable, float]:
    """The error and the seconds it took."""
    start = time.monotonic()
    with pytest.raises(Unreachable) as caught:
        ask(endpoint, **named)
    return caught.value, time.monotonic() - start


@pytest.mark.parametrize("fault", [{"wrong": 2}, {"rate_limited": 2}, {"dead": 2},
                                   {"wrong": 2, "wrong_kind": "garbage"}])  # fmt: skip
def test_a_passing_fault_is_overcome_by_asking_again(fake, fault):
    fake.control(**fault)
    assert len(ask(endpoint_of(fake))["data"]) == 1
    assert fake.count(PATH) == 3


def test_it_is_asked_again_no_more_often_than_set(fake):
    fake.control(wrong=-1)
    _error, seconds = refused(endpoint_of(fake, retries=1))
    assert fake.count(PATH) == 2
    assert 0.125 <= seconds < 4


@pytest.mark.parametrize("retries", [0, 3])
def test_the_number_of_retries_is_the_setting(fake, retries):
    fake.control(wrong=-1)
    refused(endpoint_of(fake, retries=retries, breaker=patient_breaker()))
    assert fake.count(PATH) == retries + 1


def test_a_wrong_key_is_not_asked_again(fake):
    fake.control(api_key="another")
    error, _seconds = refused(endpoint_of(fake))
    assert str(error) == "The provider answered 401."
    assert fake.count(PATH) == 1


def test_the_servers_pause_is_waited_out_when_there_is_time(fake):
    fake.control(rate_limited=1, retry_after="1")
    assert seconds_of(lambda: ask(endpoint_of(fake), seconds=5)) >= 1
    assert fake.count(PATH) == 2


def test_a_pause_beyond_the_deadline_is_told_and_not_waited_for(fake):
    fake.control(rate_limited=1, retry_after="30")
    error, seconds = refused(endpoint_of(fake), seconds=20)
    assert error.retry_after == 30
    assert seconds < 10
    assert fake.count(PATH) == 1


def test_a_request_that_the_server_rejects_is_no_fault_of_the_server(fake):
    endpoint = endpoint_of(fake, breaker=(breaker := Breaker(threshold=1)))
    with pytest.raises(Rejected) as caught:
        ask(endpoint, text="")
    assert caught.value.status == 400
    assert "empty string" in caught.value.detail
    assert "empty string" not in str(caught.value)
    assert breaker.state == "closed"


# A server's slowness: each holds a caller until the deadline and no longer.
@pytest.mark.parametrize("fault", [{"hung": -1}, {"slow": 30.0}, {"slow_byte": 0.05}])
def test_a_slow_server_holds_nobody_beyond_the_deadline(fake, fault):
    fake.control(**fault)
    _error, seconds = refused(endpoint_of(fake), seconds=0.6)
    assert 0.5 < seconds < 10


def test_a_server_that_sends_its_head_by_the_byte_holds_nobody_beyond_the_deadline():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _address = server.accept()
            with connection:
                try:
                    connection.sendall(b"HTTP/1.1 200 OK\r\n")
                    while True:
                        connection.sendall(b"X-More: 1\r\n")
                        time.sleep(0.05)
                except OSError:
                    return

        threading.Thread(target=drip, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        endpoint = Endpoint(base_url=url, api_key="", model=MODEL, connect_seconds=1, retries=0)
        _error, seconds = refused(endpoint, seconds=0.6)
    assert 0.5 < seconds < 10


def test_a_resolver_that_does_not_answer_holds_nobody_beyond_the_deadline(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: time.sleep(30) or [])
    endpoint = Endpoint(
        base_url="http://away.invalid/v1", api_key="", model=MODEL, connect_seconds=1, retries=0
    )
    _error, seconds = refused(endpoint, seconds=0.4)
    assert seconds < 10


def test_a_server_that_keeps_failing_is_left_alone_and_callers_learn_it_at_once(fake):
    endpoint = endpoint_of(fake, retries=0, breaker=Breaker(threshold=3, cooldown=60))
    fake.control(wrong=-1)
    for _ in range(3):
        refused(endpoint)
    sent = fake.count(PATH)
    error, seconds = refused(endpoint)
    assert fake.count(PATH) == sent
    assert seconds < 4  # not at the deadline
    assert 50 < error.retry_after <= 60


def test_a_server_that_recovers_is_used_again_after_the_pause(fake):
    now = 1_000.0
    breaker = Breaker(threshold=2, cooldown=10, clock=lambda: now)
    endpoint = endpoint_of(fake, retries=0, breaker=breaker)
    fake.stop()
    for _ in range(2):
        refused(endpoint)
    fake.start()
    refused(endpoint)
    now += 10
    assert len(ask(endpoint)["data"]) == 1
    assert len(ask(endpoint)["data"]) == 1


def test_a_restarted_server_costs_no_call_its_kept_connection(fake):
    endpoint = endpoint_of(fake)
    ask(endpoint)
    fake.stop()
    fake.start()
    assert len(ask(endpoint)["data"]) == 1


def test_threads_share_an_endpoint(fake):
    endpoint = endpoint_of(fake)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: ask(endpoint, text="word " * n), range(1, 65)))
    assert [answer["usage"]["prompt_tokens"] for answer in answers] == list(range(1, 65))
    assert fake.count(PATH) == 64


def test_every_request_is_counted_and_those_that_brought_nothing(fake):
    endpoint = endpoint_of(fake, breaker=patient_breaker())
    fake.control(wrong=1, rate_limited=1)
    with metering() as meter:
        ask(endpoint, text="one two three")
        fake.control(wrong=-1)
        refused(endpoint)
    (usage,) = meter.totals()
    assert (usage.provider, usage.model, usage.purpose) == ("openai", MODEL, "embed")
    assert (usage.calls, usage.failures, usage.input_tokens) == (6, 5, 3)


def test_what_the_breaker_turns_away_is_not_counted(fake):
    endpoint = endpoint_of(fake, retries=0, breaker=Breaker(threshold=1, cooldown=60))
    fake.control(wrong=-1)
    with metering() as meter:
        refused(endpoint)
        refused(endpoint)
    assert [one.calls for one in meter.totals()] == [1]


def test_the_log_holds_neither_texts_nor_the_key(fake, caplog):
    """Nor headers, at any level: the client's own loggers are kept quiet."""
    endpoint = endpoint_of(fake, retries=1)
    with caplog.at_level(logging.DEBUG):
        ask(endpoint)
        fake.control(wrong=-1)
        refused(endpoint)
        fake.reset()
        fake.control(wrong=-1, wrong_kind="garbage")
        refused(endpoint)
        fake.reset()
        with pytest.raises(Rejected):
            ask(endpoint, text="")
    written = caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    assert "The provider answered 500." in written
    assert "request_id=fake-1" in written
    assert not {"openai", "httpx2", "httpcore2"} & {record.name.split(".")[0] for record in caplog.records}
    for secret in ("4411", "sk-secret-key", "Bearer", "Bad gateway"):
        assert secret not in written


def test_a_redirect_is_not_followed(fake):
    """It would carry memories to an address that nobody configured."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def redirect() -> None:
            connection, _address = server.accept()
            with connection:
                connection.recv(65_536)
                head = f"HTTP/1.1 307 Away\r\nLocation: {fake.base_url}/embeddings\r\n"
                connection.sendall(f"{head}Content-Length: 0\r\n\r\n".encode())

        threading.Thread(target=redirect, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        endpoint = Endpoint(base_url=url, api_key="", model=MODEL, connect_seconds=1, retries=0)
        error, _seconds = refused(endpoint)
    assert "307" in str(error)
    assert fake.count(PATH) == 0


def test_the_fake_keeps_no_keys(fake: FakeProvider):
    ask(endpoint_of(fake))
    assert "authorization" not in fake.requests[0]["headers"]
