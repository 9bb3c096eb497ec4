"""Instruments of episodes; docs/observability.md describes each."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.db import DatabaseError, connections, transaction
from prometheus_client import Counter, Histogram

from episodic.models import Episode
from tenants.router import admin_role

MOST = 100_000  # counted no further than this
SAMPLED_PAGES = 500  # of the episodes: some thousands of them
MOST_OF_USER = 10_000
PAGES = "SELECT pg_relation_size('agent_episodes') / current_setting('block_size')::int"
SAMPLE = """
SELECT s.seen, n.count FROM (
    SELECT tenant_id, user_id, count(*) AS seen FROM agent_episodes TABLESAMPLE SYSTEM (%(share)s)
    WHERE user_id <> '' GROUP BY tenant_id, user_id) AS s
CROSS JOIN LATERAL (
    SELECT count(*) FROM (
        SELECT FROM agent_episodes e WHERE e.tenant_id = s.tenant_id AND e.user_id = s.user_id
        LIMIT %(most)s) AS theirs) AS n
WHERE n.count > 0
"""
WRITES = Counter("episodic_writes", "Episodes written, with or without a vector.")
WRITE_FAILURES = Counter(
    "episodic_write_failures",
    "Episodes that PostgreSQL did not take (store), or that were written without a vector (embedding).",
    ["reason"],
)
SET_ASIDE = Counter("episodes_set_aside", "Episodes that the embedding model takes no text of.")
RETENTION_DELETED = Counter(
    "retention_deleted", "Rows that were deleted because they were older than the policy allows.", ["kind"]
)
FOUND_OF_NEAREST = Histogram(
    "memory_search_recall",
    "Share of the nearest, at most ten, that searches found which did not compare all; of a sample of them.",
    ["way"],
    buckets=(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
)
for _way in ("signatures", "graph"):
    FOUND_OF_NEAREST.labels(_way)
for _kind in ("episodes", "events"):
    RETENTION_DELETED.labels(_kind)
for _reason in ("store", "embedding"):
    WRITE_FAILURES.labels(_reason)  # so that the first failure shows as a rise from 0


@contextmanager
def counted_write(*, embedded: bool, episodes: int = 1) -> Iterator[None]:
    """Counts the episodes that the block commits, or fails to."""
    try:
        yield
    except DatabaseError:
        WRITE_FAILURES.labels("store").inc()
        raise
    WRITES.inc(episodes)
    if not embedded:
        WRITE_FAILURES.labels("embedding").inc(episodes)


@contextmanager
def counted_at_commit(*, embedded: bool = True, episodes: int = 1) -> Iterator[None]:
    """Counts the episodes that the block writes when the open transaction commits. Those that are to get
    their vectors later count as `embedded`."""
    try:
        yield
    except DatabaseError:
        WRITE_FAILURES.labels("store").inc()
        raise
    transaction.on_commit(partial(WRITES.inc, episodes))
    if not embedded:
        transaction.on_commit(partial(WRITE_FAILURES.labels("embedding").inc, episodes))


def count_unembedded() -> None:
    """Counts an episode that was to be embedded after its commit, and was not."""
    WRITE_FAILURES.labels("embedding").inc()


def count_pending() -> int:
    """Episodes of all tenants that have no vector yet; exact up to 100,000. A named cross-tenant job."""
    with admin_role():
        return Episode.objects.filter(embed_pending=True).order_by()[:MOST].count()


def episodes_per_user_p99() -> float:
    """How many episodes the users with most of them have: 99 of 100 have no more. 0 without any user.

    Exact as long as the table has few pages, then estimated from some of them: a user who turns up there
    stands for as many as their share of those rows says. Of a user, `MOST_OF_USER` are counted at most. A
    named cross-tenant job, of bounded cost however large the table is.
    """
    with admin_role(), connections["admin"].cursor() as cursor:
        cursor.execute(PAGES)
        share = min(100.0, 100 * SAMPLED_PAGES / max(1, cursor.fetchone()[0]))
        cursor.execute(SAMPLE, {"share": share, "most": MOST_OF_USER})
        found = sorted((count, min(1.0, seen / count)) for seen, count in cursor.fetchall())
    rest = 0.99 * sum(weight for _count, weight in found)
    for count, weight in found:
        rest -= weight
        if rest <= 1e-9:
            return float(count)
    return 0.0
