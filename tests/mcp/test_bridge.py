"""How asynchronous code asks the synchronous domain, in one thread."""

import asyncio
import threading
from contextvars import ContextVar

import pytest
from django.db import connection

from api.mcp.bridge import run_with_pauses
from tenants.scope import scope

told: ContextVar[str] = ContextVar("told", default="nothing")


def test_the_work_is_done_in_the_caller_s_thread_and_context(acme):
    told.set("something")
    seen = []

    async def serve(run):
        def look():
            with (
                scope(acme.tenant.id),
                connection.cursor() as cursor,
            ):  # Django refuses this in a running loop
                cursor.execute("SELECT 1")
                return threading.get_ident(), told.get()

        seen.append(await run(look))

    run_with_pauses(serve)
    assert seen == [(threading.get_ident(), "something")]


def test_an_error_of_the_work_is_raised_where_it_is_awaited():
    async def serve(run):
        with pytest.raises(ValueError, match="no"):
            await run(lambda: int("no"))

    run_with_pauses(serve)


def test_an_error_of_the_server_is_raised_to_the_caller():
    async def serve(run):
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_with_pauses(serve)


def test_several_pieces_of_work_are_all_done():
    async def serve(run):
        done = await asyncio.gather(*(run(lambda n=n: n * n) for n in range(5)))
        results.extend(done)

    results: list[int] = []
    run_with_pauses(serve)
    assert results == [0, 1, 4, 9, 16]


def test_interrupted_work_leaves_no_task_and_no_loop_behind():
    loops, cancelled = [], []

    def interrupt():
        raise KeyboardInterrupt

    async def serve(run):
        loops.append(asyncio.get_running_loop())
        try:
            await run(interrupt)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(KeyboardInterrupt):
        run_with_pauses(serve)
    assert (loops[0].is_closed(), cancelled) == (True, [True])
