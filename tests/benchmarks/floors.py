"""The floor under each case: the same scripts, SQL and embedding, called straight from Python.

What stays out is what the door adds: HTTP, authentication, validation, rendering.
"""

import secrets
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from django.db import connections

from tests.benchmarks.figures import Figures, summarise

Call = Callable[[int], object]


def measure(call: Call, *, clients: int, seconds: float) -> Figures:
    """`call` with a new number each time, from `clients` threads at once."""
    latencies: list[list[float]] = [[] for _ in range(clients)]
    gate = threading.Barrier(clients + 1)

    def work(own: list[float], first: int) -> None:
        try:
            call(first)  # opens the thread's connection
        except BaseException:
            gate.abort()  # nobody waits for a thread that failed
            raise
        gate.wait()
        end = time.perf_counter() + seconds
        number = first
        while (start := time.perf_counter()) < end:
            number += clients
            call(number)
            own.append((time.perf_counter() - start) * 1000)
        connections.close_all()

    connections.close_all()  # this thread's: the pool has one for each of the others
    threads = [
        threading.Thread(target=work, args=(own, number), daemon=True) for number, own in enumerate(latencies)
    ]
    for thread in threads:
        thread.start()
    gate.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    return summarise([one for own in latencies for one in own], seconds=elapsed, clients=clients)


def clock() -> datetime:
    return datetime.now(UTC)


def unique_id() -> str:
    return secrets.token_hex(12)
