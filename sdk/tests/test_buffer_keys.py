"""To which server, and under which key, what was kept goes out."""

from pathlib import Path

import pytest
from strata_memory import DiskBuffer, StrataClient
from strata_memory.errors import Buffered, Conflict, ConnectionFailed
from strata_memory.operations.sessions import APPEND_TURNS

from sdk.tests.clients import KEY, blocking
from sdk.tests.keeping import cut, keep, port_of, say
from sdk.tests.recording import Recording, recording
from sdk.tests.sockets import closed_port

OTHER = "sk-other"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.sqlite3"


def flushed(path: Path, url: str, key: str = KEY, *, of_all_keys: bool = True) -> int:
    with StrataClient(url, key, buffer=DiskBuffer(path), retries=0) as client:
        return client.flush(of_all_keys=of_all_keys)


def test_nothing_goes_to_another_server_than_that_which_it_was_said_to(path: Path) -> None:
    keep(path, closed_port(), "a", "b", key=OTHER)
    keep(path, closed_port(), "c")
    with recording(Recording()) as server:
        assert flushed(path, server.url) == 0
        assert server.asked == []
    assert DiskBuffer(path).waiting() == 3


def test_what_may_have_arrived_under_another_key_is_set_aside(path: Path) -> None:
    with recording(Recording()) as server:
        server.after = cut
        keep(path, server.url, "a", key=OTHER)
        server.after = lambda text: None
        assert flushed(path, server.url) == 0
        assert server.asked == ["a"]
    (refused,) = DiskBuffer(path).refused()
    assert refused.status is None
    assert "another API key" in refused.detail


def test_what_goes_out_under_another_key_is_that_key_s_from_then_on(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", key=OTHER)
    with recording(Recording(), port_of(url)) as server:
        server.after = cut
        with pytest.raises(ConnectionFailed):
            flushed(path, url)
        server.after = lambda text: None
        assert flushed(path, url, OTHER, of_all_keys=False) == 0
        assert flushed(path, url, of_all_keys=False) == 1
        assert (server.done, server.asked) == (["a"], ["a", "a"])


def test_what_never_left_stays_with_the_key_that_it_was_made_with(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", key=OTHER)
    with pytest.raises(ConnectionFailed):
        flushed(path, url)
    with recording(Recording(), port_of(url)) as server:
        assert flushed(path, url, of_all_keys=False) == 0
        assert flushed(path, url, OTHER, of_all_keys=False) == 1
        assert server.done == ["a"]


def written(path: Path, url: str, text: str, key: str = KEY) -> Buffered:
    """A write that its caller gives an Idempotency-Key."""
    with pytest.raises(Buffered) as raised:
        blocking(
            lambda client: client.call(
                APPEND_TURNS,
                path=["s"],
                body={"turns": [{"role": "user", "content": text}]},
                headers={"Idempotency-Key": "mine"},
            ),
            url,
            key,
            buffer=DiskBuffer(path),
            retries=0,
        )
    return raised.value


def test_a_write_that_is_tried_again_under_its_key_waits_once(path: Path) -> None:
    url = closed_port()
    assert [written(path, url, "a").waiting for _ in range(2)] == [1, 1]
    assert written(path, url, "a", OTHER).key == "mine"
    assert DiskBuffer(path).waiting() == 2
    with recording(Recording(), port_of(url)) as server:
        assert flushed(path, url, of_all_keys=False) == 1
        assert server.done == ["a"]


def test_a_key_that_waits_for_another_write_is_told(path: Path) -> None:
    url = closed_port()
    written(path, url, "a")
    with pytest.raises(Conflict, match="another write"):
        written(path, url, "b")
    assert DiskBuffer(path).waiting() == 1


def test_a_write_that_was_set_aside_may_be_tried_again_under_its_key(path: Path) -> None:
    with recording(Recording()) as server:
        server.before = lambda text: 503
        written(path, server.url, "a")
        server.before = lambda text: 422
        assert flushed(path, server.url) == 0
        server.before = lambda text: 503
        written(path, server.url, "a")
        server.before = lambda text: None
        assert flushed(path, server.url) == 1
        assert server.done == ["a"]
    assert len(DiskBuffer(path).refused()) == 1


def test_what_is_gone_from_the_file_makes_room(path: Path) -> None:
    with recording(Recording()) as server:
        buffer = DiskBuffer(path, max_writes=2, max_bytes=200)
        client = StrataClient(server.url, KEY, buffer=buffer, retries=0)
        for _round in range(3):
            server.before = lambda text: 503
            assert [type(one) for one in say(client, "a", "bad")] == [Buffered, Buffered]
            server.before = lambda text: 422 if text == "bad" else None
            assert client.flush() == 1
            buffer.forget_refused()
