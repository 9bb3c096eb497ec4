"""Writes that wait on disk while the server is away: in order, once, none lost."""

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from strata_memory import DiskBuffer, StrataClient
from strata_memory.errors import (
    BufferFull,
    ConnectionFailed,
    NotFound,
    ServerError,
    Unauthenticated,
)

from sdk.tests.clients import BOTH, KEY, blocking
from sdk.tests.keeping import cut, keep, port_of, say
from sdk.tests.recording import Recording, recording
from sdk.tests.sockets import closed_port


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.sqlite3"


def test_what_could_not_be_sent_is_sent_in_order_when_the_server_is_back(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", "b")
    keep(path, url, "c")
    with recording(Recording(), port_of(url)) as server:
        client = StrataClient(url, KEY, buffer=DiskBuffer(path))
        assert say(client, "d")[0].turn_count == 1  # it was kept behind the others, and sent with them
        assert server.done == ["a", "b", "c", "d"]
    assert DiskBuffer(path).waiting() == 0


@pytest.mark.parametrize("asked", BOTH)
def test_both_clients_send_what_waits(asked: Callable[..., Any], path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", "b")
    with recording(Recording(), port_of(url)) as server:
        assert asked(lambda client: client.flush(), url, buffer=DiskBuffer(path)) == 2
        assert server.done == ["a", "b"]


def test_a_read_that_succeeds_has_what_waits_sent(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    with recording(Recording(), port_of(url)) as server:
        sent = threading.Event()
        server.after = lambda text: sent.set()
        StrataClient(url, KEY, buffer=DiskBuffer(path)).sessions.stats()
        assert sent.wait(timeout=300)
        assert server.done == ["a"]


def test_a_write_whose_answer_was_lost_is_not_done_twice(path: Path) -> None:
    with recording(Recording()) as server:
        server.after = cut
        keep(path, server.url, "a")
        assert server.done == ["a"]
        server.after = lambda text: None
        blocking(lambda client: client.flush(), server.url, buffer=DiskBuffer(path))
        assert (server.done, server.asked) == (["a"], ["a", "a"])


def test_a_write_that_is_refused_for_good_is_set_aside_and_blocks_none(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", "bad", "c")
    with recording(Recording(), port_of(url)) as server:
        server.before = lambda text: 422 if text == "bad" else None
        assert blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path)) == 2
        assert server.done == ["a", "c"]
    buffer = DiskBuffer(path)
    (refused,) = buffer.refused()
    assert (refused.status, b'"bad"' in refused.body) == (422, True)
    assert "No bad." in refused.detail
    buffer.forget_refused(refused.key)
    assert buffer.refused() == []


def test_whoever_is_told_that_a_write_is_refused_does_not_find_it_set_aside(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    with recording(Recording(), port_of(url)) as server:
        server.before = lambda text: 404 if text == "bad" else None
        (told,) = say(StrataClient(url, KEY, buffer=DiskBuffer(path)), "bad")
    assert isinstance(told, NotFound)
    assert DiskBuffer(path).refused() == []


def test_a_write_at_which_the_server_fails_again_and_again_is_set_aside(path: Path) -> None:
    with recording(Recording()) as server:
        server.before = lambda text: 500 if text == "poison" else None
        keep(path, server.url, "poison")
        with StrataClient(server.url, KEY, buffer=DiskBuffer(path)) as client:
            for _attempt in range(4):
                with pytest.raises(ServerError):
                    client.flush()
            assert client.flush() == 0
    assert [one.status for one in DiskBuffer(path).refused()] == [500]


@pytest.mark.parametrize("status", [401, 429, 502, 503, 504])
def test_what_is_not_about_the_write_keeps_it_waiting(path: Path, status: int) -> None:
    url = closed_port()
    keep(path, url, "a")
    with recording(Recording(), port_of(url)) as server:
        server.before = lambda text: status
        for _attempt in range(6):
            with pytest.raises(Exception) as raised:
                blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path), retries=0)
            assert getattr(raised.value, "status", None) == status
    assert DiskBuffer(path).waiting() == 1


def test_a_write_that_is_not_kept_does_not_overtake(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    with pytest.raises(ConnectionFailed):
        blocking(lambda client: client.sessions.clean_up(max_age_hours=1), url, buffer=DiskBuffer(path))


def test_without_a_buffer_and_for_what_is_no_write_the_failure_is_told(path: Path) -> None:
    url = closed_port()
    with pytest.raises(ConnectionFailed):
        blocking(lambda client: client.remember(session_id="s", user_message="a"), url)
    with pytest.raises(ConnectionFailed):
        blocking(lambda client: client.recall(query="a"), url, buffer=DiskBuffer(path))
    assert DiskBuffer(path).waiting() == 0


@pytest.mark.parametrize("bound", [{"max_writes": 2}, {"max_bytes": 120}])
def test_a_full_buffer_says_so_and_keeps_what_it_has(path: Path, bound: dict[str, int]) -> None:
    url = closed_port()
    client = StrataClient(url, KEY, buffer=DiskBuffer(path, **bound))
    say(client, "a" * 10, "b" * 10)
    with pytest.raises(BufferFull, match="no room"):
        say(client, "c" * 10)
    assert DiskBuffer(path).waiting() == 2


def test_only_the_owner_can_read_the_file_and_what_stands_beside_it(path: Path) -> None:
    umask = os.umask(0)
    try:
        keep(path, closed_port(), "a")
    finally:
        os.umask(umask)
    found = list(path.parent.iterdir())
    assert {stat.S_IMODE(one.stat().st_mode) for one in found} == {0o600}
    assert not any(KEY.encode() in one.read_bytes() for one in found)


def test_a_write_goes_out_under_the_key_that_it_was_made_with(path: Path) -> None:
    url = closed_port()
    keep(path, url, "theirs", key="sk-other")
    with (
        recording(Recording(), port_of(url)) as server,
        StrataClient(url, KEY, buffer=DiskBuffer(path)) as client,
    ):
        assert client.flush() == 0
        assert say(client, "ours")[0].turn_count == 1
        assert server.done == ["ours"]
        assert client.flush(of_all_keys=True) == 1
        assert server.done == ["ours", "theirs"]


def test_what_may_have_arrived_is_not_sent_when_the_server_has_forgotten_its_key(path: Path) -> None:
    with recording(Recording()) as server:
        server.after = cut
        keep(path, server.url, "a")
        with sqlite3.connect(path) as file:
            file.execute("UPDATE writes SET left_at = left_at - 86401")
        assert blocking(lambda client: client.flush(), server.url, buffer=DiskBuffer(path)) == 0
        assert server.asked == ["a"]
    assert [(one.status, one.method) for one in DiskBuffer(path).refused()] == [(None, "POST")]


def test_what_never_left_is_sent_however_old_it_is(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    for _look in range(2):
        with pytest.raises(ConnectionFailed):
            blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path))
    with recording(Recording(), port_of(url)) as server:
        buffer = DiskBuffer(path, keys_kept=timedelta(0))
        assert blocking(lambda client: client.flush(), url, buffer=buffer) == 1
        assert server.done == ["a"]


CHILD = """
import sys
from strata_memory import DiskBuffer, StrataClient
StrataClient(sys.argv[1], sys.argv[2], buffer=DiskBuffer(sys.argv[3]), timeout=600).flush()
"""


def flushing(path: Path, url: str) -> subprocess.Popen[bytes]:
    """A process that sends what waits."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", CHILD, url, KEY, str(path)], env=environment)


@pytest.mark.parametrize("answered", [True, False])
def test_a_process_that_is_killed_while_it_sends_loses_nothing_and_does_nothing_twice(
    path: Path, answered: bool
) -> None:
    texts = [f"t{number}" for number in range(20)]
    url = closed_port()
    keep(path, url, *texts)
    children: list[subprocess.Popen[bytes]] = []
    started = threading.Event()
    deadly = {"t3", "t9", "t19"}

    def kill(text: str) -> None:
        if text in deadly and started.wait(300):
            deadly.remove(text)
            if not answered:
                os.kill(children[-1].pid, signal.SIGKILL)
                raise ConnectionError
            children[-1].send_signal(signal.SIGKILL)  # while the answer is on its way

    with recording(Recording(), port_of(url)) as server:
        server.after = kill
        while DiskBuffer(path).waiting():
            started.clear()
            children.append(flushing(path, url))
            started.set()
            children[-1].wait()
        assert server.done == texts
    assert [child.returncode for child in children[:-1]] == [-signal.SIGKILL] * (len(children) - 1)
    assert len(children) > 2


def test_several_processes_on_one_file_send_each_write_once_and_in_order(path: Path) -> None:
    texts = [f"t{number}" for number in range(60)]
    url = closed_port()
    keep(path, url, *texts)
    with recording(Recording(), port_of(url)) as server:
        children = [flushing(path, url) for _ in range(3)]
        assert [child.wait() for child in children] == [0, 0, 0]
        assert server.done == server.asked == texts


def test_a_fork_while_the_parent_sends_does_not_keep_others_from_sending(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a", "b")
    with recording(Recording(), port_of(url)) as server:
        reading, writing = os.pipe()
        children: list[int] = []

        def fork(text: str) -> None:
            if not children:
                child = os.fork()
                if not child:
                    os.read(reading, 1)
                    os._exit(0)
                children.append(child)

        server.after = fork
        assert blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path)) == 2
        assert blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path)) == 0
        os.write(writing, b"x")
        os.waitpid(children[0], 0)


def test_a_wrong_key_is_told_and_nothing_is_set_aside(path: Path) -> None:
    with recording(Recording()) as server:
        server.before = lambda text: 401
        with StrataClient(server.url, KEY, buffer=DiskBuffer(path)) as client, pytest.raises(Unauthenticated):
            say(client, "a")
    assert DiskBuffer(path).waiting() == 0
