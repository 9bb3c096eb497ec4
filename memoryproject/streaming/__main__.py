"""`python -m memoryproject.streaming`: the server of live events, one process, until SIGINT or SIGTERM."""

import asyncio
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import django
from django.conf import settings
from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from memoryproject.observing import observe
from memoryproject.startup import refuse_unsafe_deployment

STREAMS = 10_000  # at once; each takes a connection, which the system may allow fewer of


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    observe("stream")
    django.setup()
    refuse_unsafe_deployment()
    asyncio.run(_serve())


async def _serve() -> None:
    """Embedded, so that the signals are ours: streams end before the server waits for their connections."""
    from memoryproject.streaming.hub import Hub
    from memoryproject.streaming.metrics import forget_the_dead
    from memoryproject.streaming.serving import Application

    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        forget_the_dead(folder)
    hub, loop = Hub(), asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(settings.DATABASE_POOL_SIZE, "live"))
    server = Server(
        Application(hub), settings.HOST, settings.STREAM_PORT or settings.PORT + 1,
        interface=Interfaces.ASGINL, http=HTTPModes.http1, websockets=False, log_enabled=False,
        backlog=1_024, backpressure=STREAMS,
    )  # fmt: skip

    def stop() -> None:
        hub.stop()
        server.stop()  # type: ignore[no-untyped-call]

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    watch = asyncio.create_task(hub.watch_keys())
    watch.add_done_callback(lambda _task: stop())  # without it, revoked keys would go on listening
    await server.serve()
    if watch.done():
        watch.result()
    watch.cancel()


main()
