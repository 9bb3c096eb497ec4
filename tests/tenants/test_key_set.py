"""The keys of an issuer: fetched on time and when one is missing, and never at the expense of a request."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tenants import jwks
from tenants.errors import Unavailable
from tenants.jwks import KeySet
from tests.tenants.issuer import JwksServer, jwk

AT_ONCE = 1.0  # seconds, on a machine that does much besides; whoever waited would wait longer


@pytest.fixture
def endpoint() -> Iterator[JwksServer]:
    server = JwksServer()
    server.keys = [jwk("a"), jwk("b")]
    yield server
    server.stop()


@pytest.fixture
def make_keys(endpoint) -> Iterator[Callable[..., KeySet]]:
    made = []

    def make(*, refresh: float = 300, max_age: float = 3_600) -> KeySet:
        keys = KeySet(
            url=endpoint.url, algorithms=["RS256"], refresh_seconds=refresh, max_age_seconds=max_age
        )
        made.append(keys)
        return keys

    yield make
    for keys in made:
        keys.stop()


@pytest.fixture
def keys(make_keys) -> KeySet:
    return make_keys()


def knows(keys: KeySet, key_id: str) -> bool:
    return keys.find(key_id=key_id, algorithm="RS256") is not None


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def eventually(condition: Callable[[], bool], limit: float = 60) -> bool:
    deadline = time.monotonic() + limit
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met


def test_keys_are_fetched_once_and_then_known(keys, endpoint):
    for _ in range(20):
        assert knows(keys, "a")
        assert knows(keys, "b")
    assert endpoint.asked == 1


def test_nothing_is_fetched_before_a_token_comes(keys, endpoint):
    time.sleep(0.1)
    assert endpoint.asked == 0


def test_a_key_serves_only_the_algorithm_it_was_asked_for(keys):
    assert keys.find(key_id="a", algorithm="RS256").algorithm_name == "RS256"
    for algorithm in ("PS256", "HS256", "none", "ES256"):
        assert keys.find(key_id="a", algorithm=algorithm) is None


def test_a_new_key_works_as_soon_as_it_is_published(keys, endpoint):
    assert knows(keys, "a")
    endpoint.keys.append(jwk("c"))
    assert knows(keys, "c")
    assert endpoint.asked == 2


def test_unknown_keys_cause_one_fetch_and_then_none_for_a_while(keys, endpoint, monkeypatch):
    assert knows(keys, "a")
    assert not any(knows(keys, f"unknown-{number}") for number in range(50))
    assert endpoint.asked == 2
    monkeypatch.setattr(jwks, "UNKNOWN_KEY_SECONDS", 0.2)
    time.sleep(0.25)
    assert not knows(keys, "unknown")
    assert endpoint.asked == 3


def together(keys: KeySet, count: int) -> list[tuple[str, float]]:
    """What so many requests with the key c are told at the same time, and after how many seconds."""
    at_once = threading.Barrier(count)

    def ask(_number: int) -> tuple[str, float]:
        at_once.wait(10)
        start = time.perf_counter()
        try:
            told = "known" if knows(keys, "c") else "unknown"
        except Unavailable:
            told = "later"
        return told, time.perf_counter() - start

    with ThreadPoolExecutor(count) as pool:
        return sorted(pool.map(ask, range(count)))


def test_one_request_waits_for_the_fetch_and_others_are_told_at_once_to_come_again(
    keys, endpoint, monkeypatch
):
    """A server has a handful of threads, and anybody can name a key."""
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 20)
    knows(keys, "a")
    endpoint.delay = 1.5
    endpoint.keys.append(jwk("c"))
    (waited, seconds_waited), *others = together(keys, 16)
    assert (waited, seconds_waited > 1.2) == ("known", True)
    assert {told for told, _seconds in others} == {"later"}
    assert max(seconds for _told, seconds in others) < AT_ONCE
    assert (endpoint.asked, endpoint.most_at_once) == (2, 1)
    assert {told for told, _seconds in together(keys, 16)} == {"known"}


def test_the_first_requests_share_one_fetch(keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 20)
    endpoint.delay = 1.5
    endpoint.keys.append(jwk("c"))
    assert [told for told, _seconds in together(keys, 16)] == ["known"] + ["later"] * 15
    assert endpoint.asked == 1
    assert knows(keys, "c")


def test_who_has_waited_leaves_the_place_to_the_next(keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(jwks, "UNKNOWN_KEY_SECONDS", 0)
    endpoint.delay = 0.3
    for _ in range(3):
        assert not knows(keys, "unknown")
        assert eventually(lambda: keys._ended == keys._begun)
    assert endpoint.asked == 3


def test_a_withdrawn_key_stops_within_the_refresh_time(make_keys, endpoint):
    keys = make_keys(refresh=0.3)
    assert knows(keys, "a")
    endpoint.keys = [jwk("b")]
    start = time.monotonic()
    assert eventually(lambda: not keys._known("a", "RS256"))
    assert time.monotonic() - start < 0.3 + 2 * AT_ONCE
    assert knows(keys, "b")


def test_it_does_so_although_nobody_called_meanwhile(make_keys, endpoint):
    """The thread keeps time, not the next request, which would still be let in."""
    keys = make_keys(refresh=0.3)
    assert knows(keys, "a")
    endpoint.keys = [jwk("b")]
    assert eventually(lambda: keys._known("a", "RS256") is None)


def test_withdrawing_every_key_withdraws_every_key(make_keys, endpoint):
    keys = make_keys(refresh=0.2)
    assert knows(keys, "a")
    endpoint.keys = []
    assert eventually(lambda: not keys._known("a", "RS256"))


def test_while_the_endpoint_is_down_known_keys_serve_fast_and_others_are_refused(make_keys, endpoint):
    keys = make_keys(refresh=0.1)
    assert knows(keys, "a")
    endpoint.stop()
    for _ in range(20):
        assert seconds(lambda: knows(keys, "a")) < AT_ONCE
        time.sleep(0.02)
    assert not knows(keys, "c")
    assert knows(keys, "a")


def test_when_it_is_back_new_keys_work(make_keys, endpoint):
    keys = make_keys(refresh=0.1)
    assert knows(keys, "a")
    endpoint.stop()
    time.sleep(0.3)
    endpoint.keys.append(jwk("c"))
    endpoint.start()
    assert eventually(lambda: keys._known("c", "RS256") is not None)


def test_a_slow_endpoint_holds_up_nobody_whose_key_is_known(make_keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 20)
    keys = make_keys(refresh=0.1)
    assert knows(keys, "a")
    before, endpoint.delay = endpoint.asked, 1.8
    assert eventually(lambda: endpoint.asked > before and endpoint.at_once == 1)
    waiting = threading.Thread(target=lambda: knows(keys, "unknown"))
    waiting.start()
    for _ in range(100):
        assert seconds(lambda: knows(keys, "a")) < AT_ONCE
    assert waiting.is_alive()
    waiting.join()


def test_a_request_with_an_unknown_key_waits_a_bounded_time(keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "WAIT_SECONDS", 0.2)
    endpoint.delay = 1.8
    assert 0.15 < seconds(lambda: knows(keys, "a")) < 1.5
    assert seconds(lambda: knows(keys, "a")) < AT_ONCE  # the fetch has had its time already
    assert eventually(lambda: keys._known("a", "RS256") is not None)


def test_keys_are_too_old_some_day(make_keys, endpoint):
    keys = make_keys(refresh=0.1, max_age=4)
    assert knows(keys, "a")
    endpoint.stop()
    assert knows(keys, "a")
    assert eventually(lambda: keys._known("a", "RS256") is None)
    assert not knows(keys, "a")


def test_the_endpoint_may_be_down_at_first(make_keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "RETRY_SECONDS", 0.1)
    keys = make_keys()
    endpoint.stop()
    assert not knows(keys, "a")
    endpoint.start()
    assert eventually(lambda: keys._known("a", "RS256") is not None)


WRONG = {
    "an error": {"status": 500},
    "a redirect": {"status": 302, "headers": {"Location": "/other"}},
    "no JSON": {"body": b"<html>Not found</html>"},
    "no text": {"body": b"\xff\xfe\x00"},
    "nothing": {"body": b""},
    "another document": {"body": b'{"issuer": "https://issuer.example"}'},
    "a very deep one": {"body": b"[" * 200_000},
    "a very long one": {"body": b'{"keys": []}' + b" " * 300_000},
    "a compressed one": {"body": b"\x1f\x8b\x08\x00", "headers": {"Content-Encoding": "gzip"}},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_changes_nothing_and_is_told(wrong, make_keys, endpoint, caplog):
    keys = make_keys(refresh=0.1)
    assert knows(keys, "a")
    for name, value in wrong.items():
        setattr(endpoint, name, value)
    asked = endpoint.asked
    assert eventually(lambda: endpoint.asked > asked + 1)
    assert knows(keys, "a")
    told = [record for record in caplog.records if record.name == "tenants.jwks"]
    assert {record.getMessage() for record in told} == {"jwks_not_fetched"}
    assert not any(record.exc_info for record in told)


def test_a_redirect_is_not_followed(keys, endpoint):
    with_others = JwksServer()
    with_others.keys = [jwk("evil")]
    endpoint.status, endpoint.headers = 307, {"Location": with_others.url}
    assert not knows(keys, "evil")
    assert (endpoint.asked > 0, with_others.asked) == (True, 0)
    with_others.stop()


def test_an_endpoint_that_drips_is_given_up(make_keys, endpoint, monkeypatch):
    monkeypatch.setattr(jwks, "FETCH_SECONDS", 0.3)
    monkeypatch.setattr(jwks, "RETRY_SECONDS", 0.1)
    keys = make_keys()
    endpoint.drip = 0.02
    assert not knows(keys, "a")
    endpoint.drip = 0
    assert eventually(lambda: keys._known("a", "RS256") is not None)


def test_a_process_that_lost_its_thread_starts_another(make_keys, endpoint):
    """As after a fork."""
    keys = make_keys(refresh=0.1)
    assert knows(keys, "a")
    keys.stop()
    keys._thread.join()
    keys._stopped = False
    asked = endpoint.asked
    assert knows(keys, "a")
    assert eventually(lambda: endpoint.asked > asked)
