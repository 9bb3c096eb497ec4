"""The command lines of web, stream, worker and beat."""

import signal
from collections.abc import Mapping
from pathlib import Path

from memoryproject.embedded.program import Program


def web(host: str, port: int, *, log: Path, env: Mapping[str, str]) -> Program:
    """Granian. WEB_WORKERS processes (default 2) with WEB_THREADS threads each (default 4).

    docs/performance.md has the figures behind the defaults.
    """
    return Program(
        "web",
        [
            "granian", "--interface", "wsgi", "memoryproject.wsgi:application",
            "--host", host, "--port", str(port),
            "--workers", env.get("WEB_WORKERS") or "2",
            "--blocking-threads", env.get("WEB_THREADS") or "4",
            "--http", "1", "--no-ws",
            "--respawn-failed-workers", "--respawn-interval", "0.5",
            "--workers-kill-timeout", "5s",  # a client that holds a stream open does not hold up the end
        ],
        log=log, env=env,
    )  # fmt: skip


def stream(host: str, port: int, *, log: Path, env: Mapping[str, str]) -> Program:
    """The server of live events: one process for all the streams that stay open."""
    address = {"HOST": host, "STREAM_PORT": str(port)}
    stop_steps = ((signal.SIGTERM, 3.0),)  # it ends its streams at once
    return Program(
        "stream", ["memoryproject.streaming"], log=log, env={**env, **address}, stop_steps=stop_steps
    )


def worker(*, log: Path, env: Mapping[str, str]) -> Program:
    """A Celery worker with four threads. An unfinished task is done again: tasks are acknowledged late."""
    return Program(
        "worker",
        [
            "celery", "-A", "memoryproject", "worker", "--loglevel", "INFO",
            "--pool", "threads", "--concurrency", "4", "--without-gossip", "--without-mingle",
        ],
        log=log, env=env, parent_death=signal.SIGQUIT,
        stop_steps=((signal.SIGTERM, 8.0), (signal.SIGQUIT, 3.0)),  # after the running tasks, then at once
    )  # fmt: skip


def beat(*, log: Path, env: Mapping[str, str]) -> Program:
    """Celery's clock."""
    return Program(
        "beat",
        ["celery", "-A", "memoryproject", "beat", "--loglevel", "INFO"],
        log=log, env=env, stop_steps=((signal.SIGTERM, 5.0),),
    )  # fmt: skip
