"""On the main port: what has happened since, and the client comes back."""

import threading
import time
from types import SimpleNamespace

import pytest

from api.native import streaming
from tests.streaming.server import PATH, Told, append


def ask(member, told, **query):
    headers = {"Last-Event-ID": told.last_id} if told.last_id else {}
    answer = member.http.get(PATH, params=query, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    told.read(answer.text.split("\n"))
    return answer


def test_who_comes_back_again_and_again_is_told_everything_once(acme):
    told = Told()
    ask(acme, told)
    assert told.frames == []
    for number in range(5):
        append(acme, f"s{number % 2}", number)
        ask(acme, told)
    assert [one["content"] for one in told.frames] == list(range(5))


def test_it_waits_for_what_comes_soon(acme):
    told = Told()
    ask(acme, told)
    waiting = threading.Thread(target=ask, args=(acme, told))
    waiting.start()
    append(acme, "s", "soon")
    waiting.join()
    while not told.frames:  # on a slow machine it may have come later than that
        ask(acme, told)
    assert [one["content"] for one in told.frames] == ["soon"]


def test_a_long_log_comes_in_several_answers(acme):
    told, big = Told(last_id="0"), "x" * 30_000
    for number in range(12):
        append(acme, "s", *[f"{number} {big}"] * 20)
    answers = 0
    while len(told.frames) < 240:
        ask(acme, told)
        answers += 1
    assert answers > 1
    assert told.numbers("s") == list(range(1, 241))


def test_bound_keys_and_other_tenants(acme, globex):
    append(acme, "s1", "alice's", user_id="alice")
    append(acme, "s2", "bob's", user_id="bob")
    append(globex, "s1", "globex's")
    told = Told(last_id="0")
    ask(acme.with_key(user_id="bob"), told)
    assert [one["content"] for one in told.frames] == ["bob's"]


@pytest.fixture
def asked(acme):
    from working.live_types import Wanted

    return streaming.Asked(acme.caller, Wanted(), None)


def clock(slept):
    """Of that module alone: other threads sleep too."""
    return SimpleNamespace(monotonic=time.monotonic, sleep=slept.append)


def test_one_thread_waits_the_others_answer_at_once(asked, monkeypatch):
    slept = []
    monkeypatch.setattr(streaming, "time", clock(slept))
    monkeypatch.setattr(streaming, "WAIT_SECONDS", 0.05)
    streaming._told(asked)
    assert slept
    slept.clear()
    with streaming._spare:
        streaming._told(asked)
    assert slept == []


def test_where_there_is_one_thread_nobody_waits(asked, monkeypatch, settings):
    slept = []
    monkeypatch.setattr(streaming, "time", clock(slept))
    settings.WEB_THREADS = 1
    streaming._told(asked)
    assert slept == []


def test_the_address_of_the_stream_that_stays_open_is_told(asked, settings):
    view = streaming.StreamView()
    settings.WEB_THREADS = 1
    assert "Link" not in view.answer(asked).headers
    settings.STREAM_URL = "https://memory.example.org:8443/"
    link = '<https://memory.example.org:8443/api/v1/events/stream>; rel="alternate"'
    assert view.answer(asked).headers["Link"] == link
