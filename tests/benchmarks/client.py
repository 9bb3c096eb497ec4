"""The client's memories of KAOS: `python -m tests.benchmarks.client`.

How many events a second LocalMemory takes, in full sessions, so that each event evicts one; and how long an
event takes that RemoteMemory adds, beside the same request by a bare connection, in turn in one run.
"""

import argparse
import asyncio
import http.client
import json
import sys
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import numpy as np

from tests.benchmarks.peers.surroundings import load
from tests.benchmarks.stage import Stage, stage
from tests.benchmarks.web import start_default
from tests.processes import ROOT

SESSIONS, KEPT = 1_000, 500  # as KAOS bounds them
IN_TURN = 20  # requests of one before it is the other's turn, so that both meet the same noise
WARM = 40  # of each, not counted
CONTENT = "Could you check why my last order has not arrived yet?"
HEADERS = {"Content-Type": "application/json"}
FIRST, SECOND, BARE = "generation 1: type and content", "generation 2: an event", "a bare connection"
ROW = "{:44} {:>12} {:>12}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.client", description=__doc__)
    parser.add_argument("--events", type=int, default=400_000, help="in the process (default: %(default)s)")
    parser.add_argument("--asked", type=int, default=400, help="requests of each (default: %(default)s)")
    options = parser.parse_args()
    sys.path.append(str(ROOT / "sdk" / "src"))
    print(f"load {load()}")
    asyncio.run(_local(options.events))
    with stage(None) as place:
        asyncio.run(_remote(place, options.asked))
    print(f"load {load()}")


async def _local(count: int) -> None:
    from strata_memory.kaos import LocalMemory

    memory = LocalMemory(SESSIONS, KEPT)
    event = memory.create_event("user_message", CONTENT)
    names = [await memory.create_session("agent", "user", f"s{number}") for number in range(20)]
    ways: dict[str, Callable[[str], Awaitable[object]]] = {
        FIRST: lambda name: memory.add_event(name, "user_message", CONTENT),
        SECOND: lambda name: memory.add_event(name, event),
    }
    print(ROW.format("LocalMemory.add_event, events a second", "wall clock", "CPU time"))
    for title, add in ways.items():
        await _add(add, names, KEPT * len(names))  # from here on they are full
        wall, used = time.perf_counter(), time.process_time()
        await _add(add, names, count)
        figures = count / (time.perf_counter() - wall), count / (time.process_time() - used)
        print(ROW.format(title, *(f"{one:,.0f}" for one in figures)))


async def _add(add: Callable[[str], Awaitable[object]], names: list[str], count: int) -> None:
    for number in range(count):
        await add(names[number % len(names)])


async def _remote(place: Stage, asked: int) -> None:
    from strata_memory.kaos import RemoteMemory

    web, key = start_default(place.environment, place.log), place.members[0].key
    memory = RemoteMemory(web.url, key, agent_name="bench")
    bare = http.client.HTTPConnection(urlsplit(web.url).netloc)
    try:
        name = await memory.create_session("bench", "user")
        ms: dict[str, list[float]] = {BARE: [], FIRST: [], SECOND: []}
        for number in range(asked + WARM):
            title = list(ms)[number // IN_TURN % len(ms)]
            event = memory.create_event("user_message", f"{CONTENT} {number}")
            start = time.perf_counter()
            if title == BARE:
                _append(bare, name, key, f"{CONTENT} {number}")
            elif title == FIRST:
                assert await memory.add_event(name, "user_message", event.content)
            else:
                assert await memory.add_event(name, event)
            ms[title].append((time.perf_counter() - start) * 1000)
    finally:
        await memory.close()
        bare.close()
        web.stop()
    floor = float(np.median(ms[BARE][WARM // 2 :]))
    print(ROW.format("an event of a session on the server", "p50, ms", "of the bare"))
    for title, times in ms.items():
        median = float(np.median(times[WARM // 2 :]))
        print(ROW.format(title, f"{median:.2f}", f"{median / floor:.2f}"))


def _append(connection: http.client.HTTPConnection, session: str, key: str, content: str) -> None:
    """The same request as `add_event` makes, by the standard library alone."""
    body = json.dumps({"event_type": "user_message", "content": content})
    headers = {**HEADERS, "Authorization": f"Bearer {key}", "X-Agent": "bench"}
    connection.request("POST", f"/memory/sessions/{session}/events", body, headers)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    assert json.loads(answer.read())["added"] is True


if __name__ == "__main__":
    main()
