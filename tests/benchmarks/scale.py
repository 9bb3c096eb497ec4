"""Likeness in meaning at scale: a million vectors of a thousand tenants, and subjects of many sizes in them.

Compares each way of looking for the nearest with comparing all: what it finds, and how long it takes. They
lie as those of texts do: each between two of real sentences, with some noise. They are written past the
product, as the superuser; what searches them are the product's own functions, as the app role.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector
from uuid_utils.compat import uuid7

from tests.benchmarks.stage import Stage

if TYPE_CHECKING:
    from episodic.vector_queries import Near, Way

DOCS = Path(__file__).resolve().parents[2] / "docs"
TENANTS, COUNT, QUICK_COUNT = 1_000, 1_000_000, 50_000
MODEL, DIMENSIONS = "all-MiniLM-L6-v2", 384
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # of the tenants that are searched, by size
QUERIES, WANTED = 40, 50
NOISE = np.float32(0.4 / DIMENSIONS**0.5)  # 0.4 of a vector's length
INSERTS = 300
COPY = (
    "COPY episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding, created_at)"
    " FROM STDIN (FORMAT BINARY)"
)
TYPES = ["uuid", "uuid", "uuid", "varchar", "varchar", "varchar", "vector", "timestamptz"]
INSERT = """
INSERT INTO episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding, created_at)
VALUES (%s, %s, %s, 'support', 'ann', %s, %s, now())
"""


@dataclass(frozen=True, slots=True)
class Found:
    """Of searches in one subject: median milliseconds, share of the first 10 and 50, and the fewest found."""

    ms: float
    of_10: float
    of_50: float
    fewest: int


def report(place: Stage, options: argparse.Namespace) -> dict[str, object]:
    """Prints and returns what each way finds in subjects of each size, and what it costs to write."""
    count = QUICK_COUNT if options.quick else COUNT
    sentences = _sentences()
    stored, asked = sentences[QUERIES:], sentences[:QUERIES]
    tenants = _fill(place.superuser_url, stored, count)
    figures: dict[str, object] = {"ms of an insert": _insert(place.superuser_url, tenants, stored)}
    print(f"an insert among {count:,}: {figures['ms of an insert']:.2f} ms")
    figures["signatures"] = _searched(tenants, asked, "signatures")
    began = time.perf_counter()
    _make_graph(place.superuser_url)
    figures["seconds to make the graph"] = time.perf_counter() - began
    figures["ms of an insert with a graph"] = _insert(place.superuser_url, tenants, stored)
    print(
        f"the graph took {figures['seconds to make the graph']:.0f} s;"
        f" an insert beside it {figures['ms of an insert with a graph']:.2f} ms"
    )
    figures["graph"] = _searched(tenants, asked, "graph")
    return figures


def _searched(
    tenants: Sequence[tuple[UUID, int]], asked: NDArray[np.float32], way: Way
) -> dict[str, dict[str, Found]]:
    """By the subject's size, the exact search and the other one."""
    print(f"{'vectors':>9}  {'exact':>9}  {way:>12}  recall@10  recall@50  fewest")
    figures = {}
    for tenant_id, size in (tenants[rank - 1] for rank in RANKS):
        exact, other = _subject(tenant_id, size, asked, way)
        figures[str(size)] = {"exact": exact, way: other}
        print(
            f"{size:>9,}  {exact.ms:>6.1f} ms  {other.ms:>9.1f} ms  {other.of_10:>9.3f}  {other.of_50:>9.3f}"
            f"  {other.fewest:>6}",
            flush=True,
        )
    return figures


def _subject(tenant_id: UUID, size: int, asked: NDArray[np.float32], way: Way) -> tuple[Found, Found]:
    """All that one tenant has, as an unbound key asks for it."""
    from episodic.nearest import near_to
    from episodic.types import EpisodeFilter
    from tenants.scope import scope

    with scope(tenant_id):
        nears = [
            near_to(tenant_id=tenant_id, model=MODEL, vector=query, where=EpisodeFilter()) for query in asked
        ]
    _ask(nears[0], way)
    true = [_ask(near, "exact") for near in nears[: QUERIES if size < 50_000 else QUERIES // 4]]
    found = [_ask(near, way) for near in nears[: len(true)]]
    return _figures(true, true), _figures(found, true)


def _ask(near: Near, way: Way) -> tuple[list[UUID], float]:
    from episodic.vector_queries import nearest_ids
    from tenants.scope import scope

    with scope(near.tenant_id):
        began = time.perf_counter()
        found = list(nearest_ids(near, limit=WANTED, way=way))
        return found, 1000 * (time.perf_counter() - began)


def _figures(found: Sequence[tuple[list[UUID], float]], true: Sequence[tuple[list[UUID], float]]) -> Found:
    def share(first: int) -> float:
        pairs = zip(found, true, strict=True)
        return float(np.mean([len({*a[:first]} & {*b[:first]}) / len(b[:first]) for (a, _), (b, _) in pairs]))

    return Found(
        float(np.median([ms for _ids, ms in found])),
        share(10),
        share(50),
        min(len(ids) for ids, _ms in found),
    )


def _sentences() -> NDArray[np.float32]:
    """The vectors of the documentation's lines, in any order."""
    from providers.embeddings import get_embedder

    lines = {
        line.strip()
        for path in sorted(DOCS.rglob("*.md"))
        for line in path.read_text().splitlines()
        if len(line) > 60 and line[0].isalpha()
    }
    shuffled = np.random.default_rng(5).permutation(sorted(lines)).tolist()
    return np.vstack([get_embedder().embed(shuffled[at : at + 64]) for at in range(0, len(shuffled), 64)])


def _fill(superuser_url: str, stored: NDArray[np.float32], count: int) -> list[tuple[UUID, int]]:
    """The tenants with their numbers of vectors, the largest first: the n-th has an n-th of the first's."""
    shares = 1 / np.arange(1, TENANTS + 1)
    sizes = np.maximum(1, (shares / shares.sum() * count).astype(int))
    tenants = [uuid7() for _ in range(TENANTS)]
    owners = np.random.default_rng(7).permutation(np.repeat(np.arange(TENANTS), sizes)).tolist()
    with psycopg.connect(superuser_url) as connection:
        register_vector(connection)
        connection.execute("SET session_replication_role = replica")  # there are no tenants, nor episodes
        connection.execute("TRUNCATE episode_embeddings")
        now = connection.execute("SELECT now()").fetchone()
        with connection.cursor().copy(COPY) as copy:
            copy.set_types(TYPES)
            for owner, vector in zip(owners, _between(stored, len(owners)), strict=True):
                copy.write_row(
                    (uuid7(), tenants[owner], uuid7(), "support", "ann", MODEL, vector, (now or [None])[0])
                )
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE) episode_embeddings")
    return list(zip(tenants, sizes.tolist(), strict=True))


def _between(stored: NDArray[np.float32], count: int, seed: int = 11) -> Iterator[NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    for begin in range(0, count, 10_000):
        n = min(10_000, count - begin)
        first, second = (stored[random.integers(len(stored), size=n)] for _ in range(2))
        share = random.uniform(0.5, 1.0, (n, 1)).astype(np.float32)
        noise = NOISE * random.standard_normal((n, DIMENSIONS), dtype=np.float32)
        mixed = share * first + (1 - share) * second + noise
        yield from mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def _insert(superuser_url: str, tenants: Sequence[tuple[UUID, int]], stored: NDArray[np.float32]) -> float:
    """Median milliseconds of one vector more."""
    taken = []
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET synchronous_commit = off")  # the disk is another matter
        for number, vector in enumerate(_between(stored, INSERTS, seed=13)):
            row = (uuid7(), tenants[number % TENANTS][0], uuid7(), MODEL, vector)
            began = time.perf_counter()
            connection.execute(INSERT, row)
            taken.append(1000 * (time.perf_counter() - began))
    return float(np.median(taken))


def _make_graph(superuser_url: str) -> None:
    from episodic.models import EpisodeEmbedding
    from tenants.vector_indexes import CREATE

    table = EpisodeEmbedding._meta.db_table
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '4GB'")
        connection.execute(
            CREATE.format(name="scale_graph", table=table, dimensions=DIMENSIONS, model=f"'{MODEL}'").encode()
        )
