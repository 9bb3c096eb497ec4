"""`python -m tests.torture.writers`: several threads that record a cause and its job in one commit each.

Every write leaves a line in the file: its number, when it began (monotonic, which is one clock for all
processes), how many seconds it took, and `ok` or the name of the error, after which it is not known whether
the write was committed.
"""

import argparse
import itertools
import json
import os
import threading
import time
from pathlib import Path
from uuid import UUID

import django
from django.db import Error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tenant", type=UUID)
    parser.add_argument("file", type=Path)
    parser.add_argument("--jobs", type=int, required=True, help="acknowledged ones, then it ends")
    parser.add_argument("--rate", type=float, required=True, help="writes a second, together")
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--kind", default="torture.quick")
    parser.add_argument("--payload", type=json.loads, default={})
    parser.add_argument("--prefix", default="")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.torture.settings")
    django.setup()
    with options.file.open("a", buffering=1) as file:
        writers = Writers(options, file)
        threads = [threading.Thread(target=writers.write) for _ in range(options.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class Writers:
    """What the threads have in common."""

    def __init__(self, options, file) -> None:
        self._options, self._file = options, file
        self._numbers, self._acknowledged = itertools.count(1), itertools.count(1)
        self._done = threading.Event()

    def write(self) -> None:
        pause = self._options.threads / self._options.rate
        due = time.monotonic()
        while not self._done.is_set():
            name = f"{self._options.prefix}{next(self._numbers)}"
            begun = time.monotonic()
            outcome = self._one(name)
            self._file.write(f"{name} {begun} {time.monotonic() - begun} {outcome}\n")
            if outcome == "ok" and next(self._acknowledged) >= self._options.jobs:
                self._done.set()
            due = max(due + pause, time.monotonic())  # what an outage held up is not made up for in a rush
            time.sleep(max(0.0, due - time.monotonic()))

    def _one(self, name: str) -> str:
        from django.db import connections
        from django.utils import timezone

        from tenants import audit
        from tenants.jobs.queue import enqueue
        from tenants.scope import scope
        from tests.torture.kinds import CAUSE

        options = self._options
        try:
            with scope(options.tenant):
                audit.record(tenant_id=options.tenant, actor="writer", action=CAUSE, target=name)
                enqueue(options.kind, payload={**options.payload, "n": name}, now=timezone.now())
        except Error as error:
            return type(error).__name__
        finally:
            connections.close_all()  # back to the pool, as after a request
        return "ok"


if __name__ == "__main__":
    main()
