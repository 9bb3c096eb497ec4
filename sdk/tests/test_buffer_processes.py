"""Who sends what waits, and that nobody who does keeps others from it for good: threads, loops and forks."""

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strata_memory import AsyncStrataClient, DiskBuffer, StrataClient
from strata_memory.errors import Buffered, DeadlineExceeded

from sdk.tests.clients import BOTH, KEY, blocking
from sdk.tests.keeping import in_time, keep, port_of, say
from sdk.tests.recording import Recording, recording
from sdk.tests.sockets import closed_port


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.sqlite3"


def forked(work: Callable[[], bool]) -> int:
    """The id of a child that ends with 0 if it is true."""
    child = os.fork()
    if not child:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    return child


def status_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def until(it: Callable[[], bool]) -> bool:
    """Comes back when it is."""
    while not it():
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("asked", BOTH)
def test_a_flush_waits_for_another_that_sends_no_longer_than_it_is_told(
    asked: Callable[..., Any], path: Path
) -> None:
    url = closed_port()
    keep(path, url, "a")
    other = DiskBuffer(path).lock()
    assert other.take()

    def flushed() -> Any:
        return asked(lambda client: client.flush(timeout=0.5), url, buffer=DiskBuffer(path))

    assert isinstance(in_time(flushed), DeadlineExceeded)
    other.release()


def test_a_flush_takes_no_time_that_there_cannot_be(path: Path) -> None:
    with pytest.raises(ValueError, match="above zero"):
        blocking(lambda client: client.flush(timeout=0), closed_port(), buffer=DiskBuffer(path))


def test_a_loop_that_runs_no_more_does_not_hold_what_waits(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    with recording(Recording(), port_of(url)) as server:
        released = threading.Event()

        def hold(text: str) -> None:
            released.wait(600)

        server.before = hold
        loop = asyncio.new_event_loop()
        client = AsyncStrataClient(url, KEY, buffer=DiskBuffer(path))
        loop.run_until_complete(client.sessions.stats())  # and not any more
        released.set()
        other = StrataClient(url, KEY, buffer=DiskBuffer(path))
        assert in_time(other.flush) in {0, 1}  # or it was sent beside
        assert in_time(lambda: [type(one) for one in say(other, "b")]) != [Buffered]
        assert server.done == ["a", "b"]
        loop.run_until_complete(client.close())
        loop.close()


def test_a_fork_while_a_thread_uses_the_file_can_use_it(path: Path) -> None:
    there = DiskBuffer(path)
    with there._file.lock:
        child = forked(lambda: there.waiting() == 0)
    assert status_of(child) == 0


def test_a_fork_while_the_parent_sends_beside_its_calls_does_so_itself(path: Path) -> None:
    url = closed_port()
    keep(path, url, "a")
    with recording(Recording(), port_of(url)) as server:
        asked, released, reading, writing = threading.Event(), threading.Event(), *os.pipe()

        def fail(text: str) -> int:
            asked.set()
            released.wait(600)
            return 503

        server.before = fail
        client = StrataClient(url, KEY, buffer=DiskBuffer(path), retries=0, timeout=600)
        client.sessions.stats()
        assert asked.wait(600)

        def send() -> bool:
            os.read(reading, 1)
            client.sessions.stats()
            return bool(in_time(lambda: until(lambda: not DiskBuffer(path).waiting())))

        child = forked(send)
        released.set()
        lock = DiskBuffer(path).lock()
        assert in_time(lambda: until(lock.take)) is True
        lock.release()
        server.before = lambda text: None
        os.write(writing, b"x")
        assert status_of(child) == 0
        assert server.done == ["a"]
