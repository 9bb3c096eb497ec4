"""What `LocalMemory` costs: `python sdk/benchmarks/local_memory.py`. Best of five, on one core."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from strata_memory.kaos import LocalMemory

EVENTS = 200_000
SESSIONS = (1_000, 100_000)


async def rate(work: Callable[[], Awaitable[object]], times: int) -> float:
    """Calls per second of this process on a core, whatever else the machine does."""
    start = time.process_time()
    for _ in range(times):
        await work()
    return times / (time.process_time() - start)


async def adding() -> None:
    """Events per second, as objects and by their type."""
    memory = LocalMemory()
    session = await memory.create_session("agent", "user")
    event = memory.create_event("user_message", "Hello", {"source": "chat"})
    forms: dict[str, Callable[[], Awaitable[object]]] = {
        "add_event(event)": lambda: memory.add_event(session, event),
        "add_event(type, content)": lambda: memory.add_event(session, "user_message", "Hello"),
    }
    for name, work in forms.items():
        best = max([await rate(work, EVENTS) for _ in range(5)])
        print(f"{name}: {best:,.0f} per second")  # noqa: T201


async def beginning(limit: int) -> None:
    """Time of a new session where each tenth of them lets go of a tenth."""
    memory = LocalMemory(max_sessions=limit)
    for _ in range(limit):
        await memory.create_session("agent", "user")
    best = max([await rate(lambda: memory.create_session("agent", "user"), limit) for _ in range(5)])
    print(f"create_session at a limit of {limit:,}: {1e6 / best:.1f} µs on average")  # noqa: T201


async def main() -> None:
    await adding()
    for limit in SESSIONS:
        await beginning(limit)


if __name__ == "__main__":
    asyncio.run(main())
