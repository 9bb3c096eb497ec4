"""Jobs whose effect is one row each time, and which die or stand still where their payload says so.

    quick                  leaves the row
    slow, kept             prepare first; the job of a `kept` one stays when it is done
    work                   leaves the row after as many milliseconds as the payload says
    nothing, nothing-slow  have no effect at all: for the benchmark

A worker's clock is wrong by `TORTURE_CLOCK` seconds.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tenants import audit
from tenants.jobs import kinds, querysets, runner
from tenants.jobs.kinds import Kind, Task

CAUSE, EFFECT = "torture.cause", "torture.effect"
MARKS = Path(os.environ.get("TORTURE_HOME", "."))
QUICK_STEPS = ("claimed", "apply", "applied", "committed")
SLOW_STEPS = ("claimed", "prepare", *QUICK_STEPS[1:])


def register_all() -> None:
    kinds.register(Kind("torture.quick", _apply))
    kinds.register(Kind("torture.slow", _apply, prepare=_prepare, slow=True))
    kinds.register(Kind("torture.kept", _apply, prepare=_prepare, slow=True, keep=True))
    kinds.register(Kind("torture.work", _work))
    kinds.register(Kind("torture.nothing", lambda task, prepared: None))
    kinds.register(Kind("torture.nothing-slow", lambda task, prepared: None, slow=True))
    if "TORTURE_HOME" in os.environ:
        _watch_steps()
    if shift := float(os.environ.get("TORTURE_CLOCK", "0")):
        _set_clock(timedelta(seconds=shift))


def mark(task: Task, step: str) -> Path:
    """The file that tells that a job has reached a step; what it holds is the process's number."""
    return MARKS / f"{task.payload['n']}.{step}"


def _prepare(task: Task) -> None:
    _reach("prepare", task)


def _apply(task: Task, prepared: Any) -> None:
    _reach("apply", task)
    audit.record(tenant_id=task.tenant_id, actor="job", action=EFFECT, target=str(task.payload["n"]))
    _reach("applied", task)


def _work(task: Task, prepared: Any) -> None:
    time.sleep(task.payload["ms"] / 1000)
    _apply(task, prepared)


def _watch_steps() -> None:
    """The two steps at which no kind is asked: after the claim, and after the commit."""
    claim, apply = querysets.claim, runner._apply

    def claim_and_reach(**options: Any) -> querysets.Claimed:
        found = claim(**options)
        for task in found.tasks:
            _reach("claimed", task)
        return found

    def apply_and_reach(tasks: list[Task], *prepared: Any, **options: Any) -> int:
        done = apply(tasks, *prepared, **options)
        for task in tasks:
            _reach("committed", task)
            if "hold" in task.payload:
                mark(task, f"over-{os.getpid()}").touch()
        return done

    querysets.claim, runner._apply = claim_and_reach, apply_and_reach


def _reach(step: str, task: Task) -> None:
    """The first time, dies here or waits here for the mark `go`, if the payload says so."""
    for word, act in (("die", _die), ("hold", _hold)):
        if task.payload.get(word) == step and _first(task, step):
            act(task)


def _first(task: Task, step: str) -> bool:
    try:
        with mark(task, step).open("x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True


def _die(task: Task) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()


def _hold(task: Task) -> None:
    while not mark(task, "go").exists():
        time.sleep(0.02)


def _set_clock(shift: timedelta) -> None:
    import celery.worker.request
    from django.utils import timezone

    class Shifted(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + shift

    real_now: Callable[[], datetime] = timezone.now
    real_time = time.time
    timezone.now = lambda: real_now() + shift
    time.time = lambda: real_time() + shift.total_seconds()
    celery.worker.request.datetime = Shifted
