"""Writers and readers at once: nobody is refused, and nothing is lost."""

import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.agentops.shapes import NOTE, get
from tests.conftest import Member

SECONDS = 3.0
PATHS = ("/search?project=orders&q=pool", "/context?project=orders&query=how+large+is+the+pool",
         "/observations/recent?project=orders", "/stats", "/timeline?observation_id={first}")  # fmt: skip


def client(member: Member) -> httpx.Client:
    return httpx.Client(
        base_url=member.http.base_url, headers={"Authorization": f"Bearer {member.key}"}, timeout=30
    )


def test_eight_writers_and_eight_readers(acme):
    first = acme.http.post("/observations", json=NOTE).json()["id"]
    until = time.monotonic() + SECONDS

    def write(writer: int) -> list[int]:
        statuses = []
        with client(acme) as http:
            while time.monotonic() < until or len(statuses) < 5:
                number = len(statuses)
                body = NOTE | {"content": f"pool {writer} {number}", "session_id": f"w{writer}"}
                if number % 5 == 4:
                    body["topic_key"] = "shared/topic"
                statuses.append(http.post("/observations", json=body).status_code)
        return statuses

    def read(reader: int) -> list[int]:
        statuses = []
        with client(acme) as http:
            while time.monotonic() < until:
                path = PATHS[(reader + len(statuses)) % len(PATHS)]
                statuses.append(http.get(path.format(first=first)).status_code)
        return statuses

    with ThreadPoolExecutor(16) as pool:
        writing, reading = pool.map(write, range(8)), pool.map(read, range(8))
        writers, readers = list(writing), list(reading)
    written = list(itertools.chain.from_iterable(writers))
    assert set(written) == {201}
    assert set(itertools.chain.from_iterable(readers)) == {200}
    shared = sum(len(statuses) // 5 for statuses in writers)
    assert shared > 0
    assert get(acme, "/stats")["total_observations"] == 1 + len(written) - shared + 1
    (topic,) = get(acme, "/search", q="shared/topic", project="orders", limit=1)
    assert get(acme, f"/observations/{topic['id']}")["revision_count"] == shared
