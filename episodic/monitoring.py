"""How much of what is nearest searches really find: some of them are done once more, exactly.

In a thread of the process that has searched, with the vector that it has at hand: nothing is stored of what
was asked. One at a time, and none while one is under way, so that it is never more than one query's load.
"""

import contextvars
import logging
import random
import threading
from collections.abc import Sequence
from uuid import UUID

from django.conf import settings
from django.db import Error, connections

from episodic import vector_queries
from episodic.metrics import FOUND_OF_NEAREST
from episodic.vector_queries import Near, Way
from tenants.errors import Overdue
from tenants.scope import each_statement_within, scope

log = logging.getLogger(__name__)
FIRST = 10  # of what was found that are compared, at most
PATIENCE = 10.0  # seconds for which PostgreSQL may look
_busy = threading.Lock()


def watch(near: Near, found: Sequence[UUID], wanted: int, way: Way) -> None:
    """Has a search for the `wanted` nearest that was not exact compared with one that is, for a share of all.
    Costs it nothing."""
    if random.random() >= settings.RECALL_MONITOR_SHARE or not _busy.acquire(blocking=False):  # noqa: S311
        return
    # An empty context: no scope is open in the thread, whose connection is its own.
    threading.Thread(
        target=contextvars.Context().run,
        args=(_compare, near, list(found), min(FIRST, wanted), way),
        daemon=True,
    ).start()


def _compare(near: Near, found: list[UUID], first: int, way: Way) -> None:
    try:
        with each_statement_within(PATIENCE), scope(near.tenant_id):
            nearest = vector_queries.nearest_ids(near, limit=first, way="exact")
        if nearest:
            FOUND_OF_NEAREST.labels(way).observe(len(nearest.keys() & set(found[:first])) / len(nearest))
    except (Error, Overdue) as error:
        log.info("recall_not_compared: %s", type(error).__name__)
    finally:
        connections.close_all()
        _busy.release()
