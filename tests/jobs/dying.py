"""A worker that dies as by SIGKILL at one point of one session's job.

python -m tests.jobs.dying <kind of job> <session> <point>
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import django

from tests.processes import ROOT

# By kind of job, behind which functions of which module it may die; besides, when it has been claimed, and
# when it is committed.
BEHIND = {
    "session.extract": ("recall.extracting.jobs", ("find", "_write", "note_extracted")),
    "session.promote": ("recall.promotion", ("_save", "note_remembered")),
    "session.summarise": ("recall.rewriting", ("ask", "revise_episode", "replace_summary")),
}


def points(kind: str) -> tuple[str, ...]:
    return ("claimed", *BEHIND[kind][1], "committed")


def die_at(point: str, *, kind: str, session: Any, llm: Any = None) -> None:
    """Has such a worker run, and die."""
    environment = {**os.environ, "JOB_LEASE_SECONDS": "3", "PROVIDER_RETRIES": "0"}
    if llm is not None:
        environment |= {
            "LLM_PROVIDER": "openai", "LLM_MODEL": "gpt-4.1-mini", "LLM_BASE_URL": llm.base_url,
            "LLM_API_KEY": "k",
        }  # fmt: skip
    argv = [sys.executable, "-m", "tests.jobs.dying", kind, str(session.id), point]
    died = subprocess.run(
        argv, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    assert died.returncode == -signal.SIGKILL, died.stderr


def main(kind: str, session: str, point: str) -> None:
    django.setup()
    from tenants.jobs import kinds, runner

    doing = ""  # the session whose job runs

    def at(here: str) -> None:
        if (doing, here) == (session, point):
            os.kill(os.getpid(), signal.SIGKILL)
            threading.Event().wait()

    def dying(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            done = function(*args, **named)
            at(name)
            return done

        return call

    path, names = BEHIND[kind]
    module = importlib.import_module(path)
    for name in names:
        setattr(module, name, dying(name, getattr(module, name)))
    known, apply = kinds.kind_of(kind), runner._apply

    def prepare(task: Any) -> Any:
        nonlocal doing
        doing = task.payload["session"]
        at("claimed")
        return known.prepare(task) if known.prepare else None

    kinds.register(replace(known, prepare=prepare))
    runner._apply = dying("committed", apply)
    while runner.run_jobs(slow=True):
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])
