"""What a client is told over connections that break, put together: everything, once, in order."""

import threading
import time

import httpx

from tests.plugin import HOME
from tests.streaming.server import PATIENCE, Listening, StreamServer, Told, append, until

SESSIONS, WRITERS, EACH = ("a", "b", "c"), 4, 60
ALL = WRITERS * EACH


class Persistent:
    """Like EventSource: comes back with the last id it was given, until it has heard enough."""

    def __init__(self, server, member):
        self.server, self.member, self.told, self.connections = server, member, Told(last_id="0"), 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        deadline = time.monotonic() + 2 * PATIENCE
        while len(self.told.frames) < ALL and time.monotonic() < deadline:
            try:
                listening = Listening(self.server, self.member, self.told)
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            self.connections += 1
            until(lambda one=listening: one.ended_well is not None or len(self.told.frames) >= ALL)
            listening.leave()


def test_a_server_that_is_killed_while_writers_append_loses_nothing_and_tells_nothing_twice(acme):
    server = StreamServer(HOME / "web.log")
    listener = Persistent(server, acme)

    def write(writer):
        for number in range(EACH):
            append(acme, SESSIONS[(writer + number) % len(SESSIONS)], f"{writer}-{number}")

    writers = [threading.Thread(target=write, args=(one,)) for one in range(WRITERS)]
    for one in writers:
        one.start()
    for share in (0.25, 0.5, 0.75):  # of what there will be, each time in the middle of it
        assert until(lambda share=share: len(listener.told.frames) >= ALL * share)
        server.kill()
        server.start()
    for one in writers:
        one.join()
    assert until(lambda: len(listener.told.frames) >= ALL, 2 * PATIENCE)
    listener.thread.join(PATIENCE)
    server.stop()
    told = listener.told
    assert listener.connections >= 2
    assert len(told.ids) == len(set(told.ids)) == ALL
    assert {one["content"] for one in told.frames} == {
        f"{writer}-{number}" for writer in range(WRITERS) for number in range(EACH)
    }
    for session in SESSIONS:
        assert told.numbers(session) == list(range(1, len(told.numbers(session)) + 1))


def test_who_does_not_read_is_dropped_and_can_resume(acme, tmp_path):
    log = tmp_path / "stream.log"
    server = StreamServer(log)
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as http:
        headers = {"Authorization": f"Bearer {acme.key}"}
        with http.stream("GET", "/api/v1/events/stream", headers=headers) as response:
            lines = response.iter_lines()
            told = Told()
            told.read([next(lines) for _ in range(3)])
            big, count = "x" * 200_000, 300  # more than the sockets and the server keep of it
            for number in range(count):
                append(acme, "s", f"{number} {big}")
            brisk = Listening(server, acme, after="0")
            brisk.heard(count)  # another one is not held up
            brisk.leave()
            assert until(lambda: '"reason":"slow"' in log.read_text())
            told.read(lines)  # it ends: the rest is not sent
    assert 0 < len(told.frames) < count
    resumed = Listening(server, acme, told)
    resumed.heard(count)
    assert told.numbers("s") == list(range(1, count + 1))
    resumed.leave()
    server.stop()
