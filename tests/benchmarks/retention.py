"""Retention: how fast expired episodes go with their vectors, and what a reader notices of it.

The episodes are written past the product, as the superuser; what deletes them is the product's own function,
as the app role. The reader searches and lists another user's memory of the same tenant, call after call.
"""

import argparse
import threading
import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
from django.db import connections

from tests.benchmarks.figures import Figures, summarise
from tests.benchmarks.stage import Stage

COUNT, QUICK_COUNT = 1_000_000, 50_000
KEPT = 2_000  # episodes of the reader's user
QUIET = 8.0  # seconds that the reader is alone
# Both tables are filled without their foreign key's triggers, and with vectors that repeat.
FILL = """
SET session_replication_role = replica;
CREATE TEMP TABLE some_vectors AS
SELECT n, (SELECT array_agg(random() - 0.5)::vector FROM generate_series(1, 384 + 0 * n)) AS vector
FROM generate_series(0, 999) n;
INSERT INTO agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type,
                            origin, text, topics, entities, outcome, metadata, created_at, embed_pending)
SELECT uuidv7(), %(tenant)s, '', %(user)s || n %% %(users)s, 'support', '', 's' || n %% 5000, 'episodic',
       %(origin)s, 'Episode ' || n || ': the customer asked about an order, and it was sent again.',
       '{}', '{}', '', '{}', %(start)s::timestamptz + n * interval '1 second', false
FROM generate_series(1, %(count)s) n;
INSERT INTO episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding, created_at)
SELECT uuidv7(), e.tenant_id, e.id, e.agent_id, e.user_id, 'all-MiniLM-L6-v2', v.vector, now()
FROM (SELECT *, row_number() OVER (ORDER BY created_at) AS n FROM agent_episodes WHERE origin = %(origin)s) e
JOIN some_vectors v ON v.n = e.n %% 1000;
"""


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Prints and returns the rate, and the reader's figures alone and meanwhile."""
    from episodic.retention import expire_memory

    count, tenant_id = QUICK_COUNT if options.quick else COUNT, place.members[0].tenant_id
    _seed(place.superuser_url, tenant_id, count)
    reader = _Reader(tenant_id)
    alone = reader.run_for(QUIET / 4 if options.quick else QUIET)
    began = time.perf_counter()
    with reader:
        done = expire_memory(tenant_id=tenant_id, tenant="bench-0", actor="bench", now=datetime.now(UTC))
        seconds = time.perf_counter() - began
    connections.close_all()
    assert done.episodes == count
    meanwhile = reader.figures
    print(
        f"retention, {count:,} episodes with vectors: {seconds:.1f} s, {count / seconds:,.0f} episodes/s"
        f" ({2 * count / seconds:,.0f} rows/s)"
    )
    for name, one in (("alone", alone), ("meanwhile", meanwhile)):
        print(f"  reader {name}: p50 {one.p50:.1f} ms, p95 {one.p95:.1f} ms, longest {one.longest:.1f} ms")
    return {
        "episodes_per_second": count / seconds,
        "seconds": seconds,
        "alone": alone,
        "meanwhile": meanwhile,
    }


class _Reader:
    """Searches and lists in a thread of its own, as long as the block lasts."""

    def __init__(self, tenant_id: UUID) -> None:
        self.tenant_id = tenant_id
        self.figures: Figures

    def run_for(self, seconds: float) -> Figures:
        with self:
            time.sleep(seconds)
        return self.figures

    def __enter__(self) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        self._thread.join()

    def _read(self) -> None:
        from episodic.episodes import list_episodes
        from episodic.search import nearest_episodes
        from episodic.types import EpisodeFilter
        from providers.embeddings import get_embedder
        from tenants.system import system_caller

        caller, where = system_caller(self.tenant_id), EpisodeFilter(user_id="kept-0")
        vector, latencies, began = get_embedder().embed(["an order"])[0], [], time.perf_counter()
        while not self._end.is_set():
            start = time.perf_counter()
            found = nearest_episodes(caller=caller, vector=vector, where=where, limit=5)
            listed = list_episodes(caller=caller, where=where, limit=20)
            latencies.append((time.perf_counter() - start) * 1000)
            assert (len(found), len(listed)) == (5, 20)
        self.figures = summarise(latencies, seconds=time.perf_counter() - began, clients=1)
        connections.close_all()


def _seed(superuser_url: str, tenant_id: UUID, count: int) -> None:
    """The reader's episodes, saved, and those of sessions that ended a year ago."""
    start = datetime.now(UTC) - timedelta(days=400)
    with psycopg.connect(superuser_url) as connection:
        connection.execute("TRUNCATE agent_episodes, episode_embeddings, episode_revisions, episode_search")
    for origin, user, users, number in (("saved", "kept-", 1, KEPT), ("session", "gone-", 500, count)):
        params = {"tenant": tenant_id, "origin": origin, "user": user, "users": users, "count": number}
        with psycopg.connect(superuser_url, cursor_factory=psycopg.ClientCursor) as connection:
            connection.execute(FILL, params | {"start": start})
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) agent_episodes, episode_embeddings, episode_search")
        connection.execute("CHECKPOINT")
