"""Instruments of episodes; docs/observability.md describes each."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, transaction
from prometheus_client import Counter

from episodic.models import Episode
from tenants.router import admin_role

MOST = 100_000  # counted no further than this
WRITES = Counter("episodic_writes", "Episodes written, with or without a vector.")
WRITE_FAILURES = Counter(
    "episodic_write_failures",
    "Episodes that PostgreSQL did not take (store), or that were written without a vector (embedding).",
    ["reason"],
)
SET_ASIDE = Counter("episodes_set_aside", "Episodes that the embedding model takes no text of.")
for _reason in ("store", "embedding"):
    WRITE_FAILURES.labels(_reason)  # so that the first failure shows as a rise from 0


@contextmanager
def counted_write(*, embedded: bool) -> Iterator[None]:
    """Counts an episode that the block commits, or fails to."""
    try:
        yield
    except DatabaseError:
        WRITE_FAILURES.labels("store").inc()
        raise
    WRITES.inc()
    if not embedded:
        WRITE_FAILURES.labels("embedding").inc()


@contextmanager
def counted_at_commit() -> Iterator[None]:
    """Counts an episode that the block writes without a vector yet, when the open transaction commits."""
    try:
        yield
    except DatabaseError:
        WRITE_FAILURES.labels("store").inc()
        raise
    transaction.on_commit(WRITES.inc)


def count_unembedded() -> None:
    """Counts an episode that was to be embedded after its commit, and was not."""
    WRITE_FAILURES.labels("embedding").inc()


def count_pending() -> int:
    """Episodes of all tenants that have no vector yet; exact up to 100,000. A named cross-tenant job."""
    with admin_role():
        return Episode.objects.filter(embed_pending=True).order_by()[:MOST].count()
