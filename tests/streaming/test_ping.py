"""What a stream says while nothing happens, and while PostgreSQL is away."""

import asyncio

import pytest
from django.db import OperationalError

from memoryproject.streaming import serving, tail
from memoryproject.streaming.hub import Hub
from memoryproject.streaming.listener import MOST_FRAMES, Listener
from tests.streaming.server import PATIENCE, Told, append
from working.live_types import Position


class Connection:
    """An ASGI server's side of one request; without `reads`, of a client that reads nothing after the headers
    and the opening."""

    def __init__(self, member, query, reads):
        self.reads, self.sent = reads, 0
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {member.key}".encode())]
        path = "/api/v1/events/stream"
        self.scope = {
            "type": "http", "method": "GET", "path": path, "query_string": query, "headers": headers,
            "scheme": "http", "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
        }  # fmt: skip
        self.told, self.leaves, self.is_over = Told(), asyncio.Event(), False

    async def receive(self):
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        self.sent += 1
        if self.sent > 2 and not self.reads and message.get("more_body"):
            await asyncio.Event().wait()
        if message["type"] == "http.response.body":
            self.told.read(message["body"].decode().split("\n")[:-1])
            self.is_over = not message.get("more_body", False)


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


def listen(member, during, *, query=b"", reads=True):
    async def run():
        connection = Connection(member, query, reads)
        serves = asyncio.create_task(
            serving.Application(Hub())(connection.scope, connection.receive, connection.send)
        )
        await until(lambda: connection.told.last_id)
        await during(connection)
        connection.leaves.set()
        await asyncio.wait_for(serves, PATIENCE)
        assert connection.is_over

    asyncio.run(run())


def test_while_nothing_happens_there_are_pings_which_move_the_cursor(acme, globex, monkeypatch):
    monkeypatch.setattr(serving, "PING_SECONDS", 0.05)

    async def during(connection):
        began = connection.told.last_id
        await asyncio.to_thread(append, globex, "s", 1)
        await until(lambda: connection.told.last_id != began and connection.told.pings > 1)
        assert connection.told.frames == []

    listen(acme, during)


def test_a_database_that_is_away_ends_no_stream(acme, monkeypatch):
    monkeypatch.setattr(tail, "REST_SECONDS", 0.05)
    failures = []

    def fail(**_named):
        failures.append(1)
        raise OperationalError

    async def during(connection):
        with monkeypatch.context() as away:
            away.setattr(tail, "read_on", fail)
            await until(lambda: len(failures) > 2)
        await asyncio.to_thread(append, acme, "s", 1)
        await until(lambda: connection.told.frames)

    listen(acme, during)


def test_a_tail_that_fails_for_another_reason_ends_its_streams(acme, monkeypatch):
    def fail(**_named):
        raise ValueError

    async def during(connection):
        monkeypatch.setattr(tail, "read_on", fail)
        await until(lambda: connection.is_over)

    listen(acme, during)


@pytest.mark.parametrize("query", [b"", b"after=0"])
def test_who_does_not_read_is_given_up_also_while_it_catches_up(acme, monkeypatch, query):
    monkeypatch.setattr(serving, "SEND_SECONDS", 0.05)
    ended, entered = [], Hub.enter

    def enter(hub, listener):
        ended.append(listener)
        entered(hub, listener)

    monkeypatch.setattr(Hub, "enter", enter)
    append(acme, "s", 1)

    async def during(connection):
        await asyncio.to_thread(append, acme, "s", 2)
        await until(lambda: connection.is_over)
        assert (ended[0].reason, connection.told.frames) == ("slow", [])

    listen(acme, during, query=query, reads=False)


@pytest.mark.parametrize("query", [b"", b"after=0"])
def test_large_frames_are_sent_one_by_one_each_in_its_own_time(acme, query):
    append(acme, "s", *["x" * serving.BUNDLE] * 5)

    async def during(connection):
        began = 2  # the headers and the opening
        if not query:
            began = connection.sent
            await asyncio.to_thread(append, acme, "s", *["x" * serving.BUNDLE] * 5)
        await until(lambda: len(connection.told.frames) == 5)
        assert connection.sent == began + 5

    listen(acme, during, query=query)


def test_what_nobody_wants_is_not_put_into_a_frame(acme, monkeypatch):
    made = []
    told = tail.frames.told
    monkeypatch.setattr(tail.frames, "told", lambda one: made.append(one.session_id) or told(one))

    async def during(connection):
        await asyncio.to_thread(append, acme, "other", 1, 2)
        await asyncio.to_thread(append, acme, "mine", 3)
        await until(lambda: connection.told.frames)
        assert made == ["mine"]

    listen(acme, during, query=b"session_id=mine")


@pytest.mark.parametrize(("frames", "size"), [(MOST_FRAMES + 1, 1), (9, 1 << 20)])
def test_a_queue_is_bounded_by_number_and_by_size(frames, size):
    listener = Listener(None, None)
    for number in range(frames):
        assert not listener.over.is_set()
        listener.offer(Position(number), b"x" * size)
    assert listener.over.is_set()
    assert listener.reason == "slow"
