"""What becomes of kept writes when sending them fails: whose fault it is, and when it is tried again."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from strata_memory import AsyncStrataClient, DiskBuffer, StrataClient, replaying
from strata_memory.errors import Buffered, ConnectionFailed, DeadlineExceeded, InvalidAnswer

from sdk.tests.clients import KEY, blocking
from sdk.tests.keeping import cut, keep, port_of, say
from sdk.tests.recording import Recording, recording
from sdk.tests.sockets import HEAD, answering, closed_port, serving


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writes.sqlite3"


@contextmanager
def black_hole() -> Iterator[str]:
    """The address of a server to which a connection is neither made nor refused."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the pauses are measured by: `now`, in seconds."""
    one = SimpleNamespace(now=1000.0, time=time.time)
    one.monotonic = lambda: one.now
    monkeypatch.setattr(replaying, "time", one)
    return one


def sent_at_last(path: Path, url: str) -> list[str]:
    """What is sent when the server is back and knows no key of before."""
    with recording(Recording(), port_of(url)) as server:
        blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path, keys_kept=timedelta(0)))
        return server.done


def test_what_a_black_hole_got_never_left_and_is_not_asked_again_and_again(
    path: Path, clock: SimpleNamespace
) -> None:
    causes = []
    with black_hole() as url:
        client = StrataClient(url, KEY, buffer=DiskBuffer(path), timeout=0.5)
        for text in ("a", "b", "c", "d"):
            (told,) = say(client, text)
            causes.append(type(told.__cause__))
            clock.now += 1.0
    assert causes == [DeadlineExceeded, DeadlineExceeded, type(None), DeadlineExceeded]
    assert sent_at_last(path, url) == ["a", "b", "c", "d"]


def test_what_was_interrupted_before_it_left_never_left(path: Path) -> None:
    async def interrupted(url: str) -> None:
        client = AsyncStrataClient(url, KEY, buffer=DiskBuffer(path), timeout=600)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.flush(), 1)

    with black_hole() as url:
        with StrataClient(url, KEY, buffer=DiskBuffer(path), timeout=0.5) as client:
            say(client, "a")
        asyncio.run(interrupted(url))
    assert sent_at_last(path, url) == ["a"]


def test_the_server_is_looked_for_more_seldom_the_longer_it_is_away(
    path: Path, clock: SimpleNamespace
) -> None:
    with recording(Recording()) as server:
        server.before = lambda text: 503
        client = StrataClient(server.url, KEY, buffer=DiskBuffer(path), retries=0)

        def asked_after(seconds: float, text: str) -> int:
            clock.now += seconds
            before = len(server.asked)
            say(client, text)
            return len(server.asked) - before

        assert [asked_after(0, "a"), asked_after(0.9, "b"), asked_after(0.1, "c")] == [1, 0, 1]
        assert [asked_after(1.9, "d"), asked_after(0.1, "e"), asked_after(3.9, "f")] == [0, 1, 0]
        server.before = lambda text: None
        assert asked_after(0.1, "g") == 7
        assert server.done == list("abcdefg")
        server.before = lambda text: 503
        assert [asked_after(0, "h"), asked_after(0.9, "i"), asked_after(0.1, "j")] == [1, 0, 1]
        clock.now += 1e6
        for _look in range(9):
            asked_after(30, "k")
        assert [asked_after(29.9, "l"), asked_after(0.1, "m")] == [0, 1]


def test_what_does_not_answer_as_strata_does_keeps_a_write(path: Path) -> None:
    with recording(Recording()) as server:
        server.before = lambda text: 200  # with a body of somebody else
        client = StrataClient(server.url, KEY, buffer=DiskBuffer(path))
        (told,) = say(client, "a")
        assert (type(told), type(told.__cause__)) == (Buffered, InvalidAnswer)
        with pytest.raises(InvalidAnswer):
            client.flush()
        server.before = lambda text: None
        assert client.flush() == 1
        assert server.done == ["a"]


def test_what_has_no_answer_is_kept_when_there_is_one(path: Path) -> None:
    page = HEAD + b"Content-Length: 13\r\n\r\n" + b'{"up": false}'
    with serving(answering(page)) as (url, _requests), pytest.raises(Buffered) as raised:
        blocking(
            lambda client: client.store.put(namespace=["a"], key="k", value={}), url, buffer=DiskBuffer(path)
        )
    assert isinstance(raised.value.__cause__, InvalidAnswer)


def another_page(_text: str) -> int:
    return 200


@pytest.mark.parametrize("failing", [another_page, cut])
def test_a_write_that_gets_no_answer_from_a_server_that_is_there_is_set_aside(
    path: Path, failing: Callable[[str], int | None]
) -> None:
    url = closed_port()
    keep(path, url, "bad", "b", "c")
    with (
        recording(Recording(), port_of(url)) as server,
        StrataClient(url, KEY, buffer=DiskBuffer(path), retries=0, timeout=600) as client,
    ):
        server.before = lambda text: failing(text) if text == "bad" else None
        for _attempt in range(4):
            with pytest.raises((InvalidAnswer, ConnectionFailed)):
                client.flush()
        assert client.flush() == 2
        assert server.done == ["b", "c"]
    (refused,) = DiskBuffer(path).refused()
    assert refused.status is None


@pytest.mark.parametrize("answer", [b"", HEAD + b"\r\n{}", HEAD.replace(b"json", b"page") + b"\r\n<html>"])
def test_a_server_that_answers_nothing_right_is_not_a_write_s_fault(path: Path, answer: bytes) -> None:
    with serving(answering(answer)) as (url, _requests):
        keep(path, url, "a", timeout=600)
        for _attempt in range(7):
            with pytest.raises((InvalidAnswer, ConnectionFailed)):
                blocking(lambda client: client.flush(), url, buffer=DiskBuffer(path), retries=0, timeout=600)
    assert (DiskBuffer(path).waiting(), DiskBuffer(path).refused()) == (1, [])


def test_what_takes_longer_than_its_caller_has_is_sent_beside(path: Path, clock: SimpleNamespace) -> None:
    url = closed_port()
    keep(path, url, "slow")
    with recording(Recording(), port_of(url)) as server:
        beside, over = threading.Event(), threading.Event()

        def before(text: str) -> None:
            if text == "slow" and server.asked.count("slow") > 1:
                beside.set()
            elif text == "slow":
                beside.wait(600)

        server.before = before
        server.after = lambda text: over.set() if text == "b" else None
        client = StrataClient(url, KEY, buffer=DiskBuffer(path), retries=0, timeout=600)
        for timeout in (1, 30):
            (told,) = say(client.bound(timeout=timeout), "b")
            clock.now += 100
            if told.__cause__.reached_server:  # the connection was made in time
                break
        assert over.wait(300)
        assert server.done[:2] == ["slow", "b"]
