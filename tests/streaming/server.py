"""The server of live events as users start it, and a client that reads its frames."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from django.db import connections

from tests.conftest import Member
from tests.processes import ROOT, free_port
from working.live_queries import SETTLED

PATH = "/api/v1/events/stream"
PATIENCE = 60.0


class StreamServer:
    """A process on a free port of loopback, which can be killed and started there again."""

    def __init__(self, log: Path, **settings: str) -> None:
        self._settings = settings
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log.open("ab")
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memoryproject.streaming"], cwd=ROOT, stdout=self._log, stderr=self._log,
            env={**os.environ, **self._settings, "HOST": "127.0.0.1", "STREAM_PORT": str(self.port)},
        )  # fmt: skip
        assert until(self._answers), "the stream server did not answer"

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/health", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


@dataclass
class Told:
    """What a client has dispatched, in order, and how it resumes."""

    frames: list[dict[str, Any]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)  # of the frames that were dispatched
    last_id: str = ""
    pings: int = 0

    def read(self, lines: Any) -> None:
        """As https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation"""
        data, kind = [], ""
        for line in lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if not line:
                if data:
                    self.ids.append(self.last_id)
                    self.kinds.append(kind)
                    self.frames.append(json.loads("\n".join(data)))
                data, kind = [], ""
            elif not name:
                self.pings += value == "ping"
            elif name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)

    def numbers(self, session: str) -> list[int]:
        return [one["seq"] for one in self.frames if one["session_id"] == session]


class Listening:
    """Reads a stream in a thread of its own, until it ends."""

    def __init__(self, server: StreamServer, member: Member, told: Told | None = None, **query: str) -> None:
        self.told = told or Told()
        headers = {"Authorization": f"Bearer {member.key}"}
        if self.told.last_id:
            headers["Last-Event-ID"] = self.told.last_id
        self.http = httpx.Client(base_url=server.url, timeout=httpx.Timeout(PATIENCE))
        self._stack = contextlib.ExitStack()
        self.response = self._stack.enter_context(
            self.http.stream("GET", PATH, params=query, headers=headers)
        )
        assert self.response.status_code == 200, self.response.read()
        self.ended_well: bool | None = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        assert until(lambda: self.told.last_id != "" or self.ended_well is not None)

    def _read(self) -> None:
        try:
            self.told.read(self.response.iter_lines())
            self.ended_well = True
        except httpx.HTTPError:
            self.ended_well = False

    def heard(self, count: int) -> list[dict[str, Any]]:
        """Waits for that many events; all that came."""
        assert until(lambda: len(self.told.frames) >= count), self.told.frames
        return self.told.frames

    def end(self) -> bool | None:
        """Waits for the server to end it; whether it did so in good order."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.ended_well

    def leave(self) -> None:
        self._stack.close()
        self.http.close()


def until(condition: Any, seconds: float = PATIENCE) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def settle() -> None:
    """Waits until all transactions of now have ended, those of other databases and of autovacuum too: until
    then nothing newer is told."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")
        (newest,) = cursor.fetchone()

        def is_settled() -> bool:
            cursor.execute(SETTLED)
            return int(cursor.fetchone()[0]) > int(newest)

        assert until(is_settled)


def append(member: Member, session: str, *contents: Any, kind: str = "note", **query: str) -> None:
    events = [{"event_type": kind, "content": content} for content in contents]
    answer = member.http.post(f"/api/v1/sessions/{session}/events", params=query, json=events)
    assert answer.status_code == 200, answer.text
