"""A buffer whose file cannot be used: locked, no database, or nowhere."""

import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from strata_memory import DiskBuffer, StrataClient, buffer_file, replaying
from strata_memory.errors import Buffered, BufferUnusable, ConnectionFailed

from sdk.tests.clients import BOTH, KEY, blocking
from sdk.tests.recording import Recording, recording
from sdk.tests.sockets import closed_port


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.sqlite3"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Somebody else writes to the file, and does not come to an end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        yield
        file.rollback()


def turn(client: Any) -> Any:
    return client.sessions.append_turns("s", turns=[{"role": "user", "content": "a"}])


def kept(path: Path, url: str) -> DiskBuffer:
    """A buffer in which a write waits."""
    there = DiskBuffer(path)
    with pytest.raises(Buffered):
        blocking(turn, url, buffer=there, retries=0)
    return there


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who has no deadline waits for a file so long that it is told from who has one."""
    for module in (buffer_file, replaying):
        monkeypatch.setattr(module, "WAIT", 300.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("asked", BOTH)
def test_a_locked_file_does_not_hold_a_call_beyond_its_deadline(
    asked: Callable[..., Any], path: Path
) -> None:
    there, begin = DiskBuffer(path), time.monotonic()
    with locked(path), pytest.raises(BufferUnusable, match="locked") as raised:
        asked(turn, closed_port(), buffer=there, timeout=1.5, retries=0)
    assert time.monotonic() - begin < 60
    assert isinstance(raised.value.__cause__, ConnectionFailed)
    assert there.waiting() == 0


def test_a_locked_file_keeps_what_waits_and_is_told_by_a_flush(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = closed_port()
    there = kept(path, url)
    monkeypatch.setattr(buffer_file, "WAIT", 0.1)
    with recording(Recording(), urlsplit(url).port or 0) as server:
        with locked(path), pytest.raises(BufferUnusable, match="locked"):
            blocking(lambda client: client.flush(), url, buffer=there)
        assert server.asked == []
        assert blocking(lambda client: client.flush(), url, buffer=there) == 1


@pytest.mark.usefixtures("patient")
def test_a_file_that_another_thread_uses_is_waited_for_within_the_deadline(path: Path) -> None:
    there, begin = DiskBuffer(path), time.monotonic()
    client = StrataClient(closed_port(), KEY, buffer=there, timeout=0.2)
    with there._file.lock, pytest.raises(BufferUnusable, match="another thread"):
        turn(client)
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("asked", BOTH)
def test_a_file_that_cannot_be_used_does_not_stand_in_the_way_of_what_is_no_write(
    asked: Callable[..., Any], path: Path
) -> None:
    there = DiskBuffer(path)
    with recording(Recording()) as server, there._file.lock:
        assert asked(lambda client: client.sessions.stats(), server.url, buffer=there).total_events == 0


def test_hosts_that_are_not_found_do_not_keep_writes_from_the_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over, told = threading.Event(), []

    def resolve(*_: Any, **__: Any) -> Any:
        over.wait(600)
        raise socket.gaierror(socket.EAI_AGAIN, "No such host.")

    def say() -> None:
        with pytest.raises(Buffered):
            turn(client)
        told.append(True)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    client = StrataClient("http://nowhere.invalid", KEY, buffer=DiskBuffer(path), timeout=1)
    threads = [threading.Thread(target=say) for _ in range(40)]  # more than a loop looks hosts up at once
    for thread in threads:
        thread.start()
    end = time.monotonic() + 90
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    in_time = len(told)
    over.set()
    for thread in threads:
        thread.join()
    assert in_time == len(threads)


@pytest.mark.parametrize("what", ["text", "folder", "missing folder"])
def test_what_can_be_no_buffer_is_a_typed_error(path: Path, what: str) -> None:
    if what == "text":
        path.write_bytes(b"This is a letter, and no database at all. " * 100)
    elif what == "folder":
        path.mkdir()
    else:
        path = path.parent / "missing" / path.name
    with pytest.raises(BufferUnusable, match=f"{path.name} cannot be used"):
        DiskBuffer(path)


def test_a_file_that_is_spoilt_later_is_a_typed_error_in_every_use(path: Path) -> None:
    url = closed_port()
    there = kept(path, url)
    there.close()
    for one in path.parent.iterdir():
        one.unlink()
    path.write_bytes(b"no database " * 1000)
    for use in (there.waiting, there.refused, there.forget_refused):
        with pytest.raises(BufferUnusable):
            use()
