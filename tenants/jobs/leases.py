"""Keeping jobs ours while they run: long ones outlast their lease, and a frozen worker must lose it."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import Error, connections

from tenants.jobs import querysets
from tenants.jobs.kinds import Task

# A job that hangs must not keep its place for ever. Another worker tries it again, and what the first one
# does late is not applied.
LONGEST = 3_600.0
log = logging.getLogger(__name__)


@contextmanager
def kept(tasks: Sequence[Task], *, seconds: float) -> Iterator[None]:
    """Renews the jobs' lease until the block ends, each third of it; for `LONGEST` seconds at most."""
    ended = threading.Event()
    keeper = threading.Thread(target=_renew, args=(tasks, seconds, ended), name="keep-leases", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        ended.set()


def _renew(tasks: Sequence[Task], seconds: float, ended: threading.Event) -> None:
    until = time.monotonic() + LONGEST
    try:
        while time.monotonic() < until and not ended.wait(seconds / 3):
            try:
                querysets.renew(tasks=tasks, seconds=seconds)
            except Error as error:  # try again: what is lost meanwhile will not be applied
                log.warning("lease_not_renewed: %s", type(error).__name__)
                connections["admin"].close()
    finally:
        connections.close_all()
