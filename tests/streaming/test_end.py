"""When a stream ends although its client would listen on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tenants.api_keys import get_api_key, revoke_api_key
from tests.plugin import HOME
from tests.streaming.server import Listening, StreamServer, append, until


def test_a_revoked_key_ends_its_streams_and_no_others(streams, acme):
    other, bound = acme.with_key(), acme.with_key(user_id="alice")
    staying, ended = Listening(streams, acme), [Listening(streams, one) for one in (other, bound)]
    for one in (other, bound):
        revoke_api_key(key=get_api_key(one.caller.key_id), actor="test", now=timezone.now())
    assert [one.end() for one in ended] == [True, True]
    append(acme, "s", "still")
    assert [one["content"] for one in staying.heard(1)] == ["still"]
    staying.leave()


def test_a_key_that_expires_ends_its_stream(streams, acme):
    brief = acme.with_key(expires_at=timezone.now() + timedelta(seconds=10))
    assert Listening(streams, brief).end() is True


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_stop_ends_all_streams_in_good_order(acme, is_busy):
    server = StreamServer(HOME / "web.log")
    crowd = [Listening(server, acme) for _ in range(10)]
    if is_busy:
        append(acme, "s", *range(100))
    server.process.terminate()
    assert [one.end() for one in crowd] == [True] * 10
    assert server.process.wait(60) == 0


def test_what_was_told_and_who_listens_is_counted(tmp_path, monkeypatch, acme):
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    server = StreamServer(HOME / "web.log")
    listening = Listening(server, acme)
    append(acme, "s", 1, 2)
    listening.heard(2)
    assert until(lambda: counted(tmp_path) == {"open": 1, "sent": 2, "left": 0})
    listening.leave()
    assert until(lambda: counted(tmp_path) == {"open": 0, "sent": 2, "left": 1})
    Listening(server, acme)
    assert until(lambda: counted(tmp_path)["open"] == 1)
    server.kill()
    server.start()
    assert counted(tmp_path)["open"] == 0
    server.stop()


def counted(folder):
    from prometheus_client import CollectorRegistry
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(folder))
    value = registry.get_sample_value
    return {
        "open": value("streams_open") or 0,
        "sent": value("stream_events_total") or 0,
        "left": value("streams_ended_total", {"reason": "left"}) or 0,
    }
