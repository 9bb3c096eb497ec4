"""Instruments of episodes; docs/observability.md describes each."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connections, transaction
from prometheus_client import Counter

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
for _kind in ("episodes", "events"):
    RETENTION_DELETED.labels(_kind)
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
