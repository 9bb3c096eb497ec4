"""Where a subject has too many vectors to compare all: as many are found as are wanted, and nearly all of the
nearest, by each way and at any execution."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import numpy as np
import psycopg
import pytest
from django.db import connection, connections

from episodic import nearest, vector_queries
from episodic.metrics import FOUND_OF_NEAREST
from episodic.search import candidate_ids, nearest_episodes
from episodic.sizes import SAMPLE, Size, entropy_of, forget_sizes
from episodic.types import EpisodeFilter, Wanted
from episodic.vector_queries import Near
from providers.embeddings import get_embedder
from tenants.scope import scope
from tenants.vector_indexes import create_index
from tenants.vectors import kinds
from tests.conftest import make_member
from tests.plans import indexes_of
from tests.plugin import STORES
from tests.recall.vectors import fill, unit_vectors

COUNT, RARE = 3_000, 6
CLUSTERS = 300
COPIES = (
    """INSERT INTO agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type,
           origin, text, topics, entities, outcome, metadata, created_at, embed_pending)
       SELECT md5(id::text)::uuid, %(to)s, namespace, user_id, agent_id, project, session, memory_type,
           origin, text, topics, entities, outcome, metadata, created_at, embed_pending
       FROM agent_episodes WHERE tenant_id = %(from)s""",
    """INSERT INTO episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding,
           created_at)
       SELECT gen_random_uuid(), %(to)s, md5(episode_id::text)::uuid, agent_id, user_id, model, embedding,
           created_at
       FROM episode_embeddings WHERE tenant_id = %(from)s""",
)


def clustered(count: int, seed: int = 0):
    """Directions as texts have them: some alike, most not."""
    drawn = np.random.default_rng(seed)
    centres = unit_vectors(CLUSTERS, seed=99)
    vectors = centres[drawn.integers(CLUSTERS, size=count)] + 0.8 * unit_vectors(count, seed=seed)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def filled(server):
    """One person's 3,000 memories, and as many of another tenant's right beside them."""
    vectors = clustered(COUNT)
    acme, globex = make_member("acme", server), make_member("globex", server)
    episodes = fill(
        acme.caller, vectors, user_id="ann", agent_id=lambda n: "rare" if n % 500 == 0 else "support",
        topics=lambda n: ["rare"] if n % 500 == 0 else [],
    )  # fmt: skip
    with connections["owner"].cursor() as cursor:
        for statement in COPIES:
            cursor.execute(statement, {"from": acme.tenant.id, "to": globex.tenant.id})
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as superuser:
        superuser.execute("VACUUM (ANALYZE) episode_embeddings, agent_episodes")
    forget_sizes()
    return acme, vectors, episodes


@pytest.fixture(scope="module")
def index(filled):
    """The approximate index."""
    embedder = get_embedder()
    name = create_index(kinds()["episode"], model=embedder.model, dimensions=embedder.dimensions)
    yield name
    with connections["owner"].cursor() as cursor:
        cursor.execute(f'DROP INDEX "{name}"')
    forget_sizes()


@pytest.fixture
def graph(index, monkeypatch):
    """Subjects of this size are looked for by it."""
    monkeypatch.setattr(nearest, "GRAPH_FROM", 2_000)
    monkeypatch.setattr(nearest, "GRAPH_SHARE", 1e-6)  # whatever other tests have left
    forget_sizes()
    return index


@contextmanager
def by_index_if_it_can() -> Iterator[None]:
    """PostgreSQL takes 3,000 vectors for few enough to sort them."""

    def without_sorting(execute, sql, params, many, context):
        indexed = sql.replace("SET LOCAL hnsw", "SET LOCAL enable_sort = off; SET LOCAL hnsw", 1)
        return execute(indexed, params, many, context)

    with connection.execute_wrapper(without_sorting):
        yield


def found(caller, query, k, **named):
    where = EpisodeFilter(**({"user_id": "ann"} | named))
    return [one.episode.id for one in nearest_episodes(caller=caller, vector=query, where=where, limit=k)]


def recall_at_10(filled) -> float:
    member, vectors, episodes = filled
    shares = []
    for query in clustered(40, seed=5):
        best = {episodes[at].id for at in np.argsort(-(vectors @ query), kind="stable")[:10]}
        shares.append(len(best & set(found(member.caller, query, 10))) / 10)
    return float(np.mean(shares))


def near(member, query) -> Near:
    where = EpisodeFilter(user_id="ann")
    return Near(member.caller.tenant_id, get_embedder().model, query, where, Size(COUNT))


def test_signatures_find_nearly_all_of_the_nearest(filled):
    assert nearest.way_to(near(filled[0], filled[1][0]), 10) == "signatures"
    assert recall_at_10(filled) >= 0.98


def test_with_few_compared_exactly_they_would_not(filled, monkeypatch):
    for name, value in {"PROMISING": 10, "TIMES": 1, "SHARE": 0.0}.items():
        monkeypatch.setattr(vector_queries, name, value)
    assert recall_at_10(filled) < 0.9


def test_a_graph_is_asked_where_there_is_one(filled, graph):
    member, vectors, _episodes = filled
    with scope(member.caller.tenant_id):
        assert nearest.way_to(near(member, vectors[0]), 10) == "graph"
    with by_index_if_it_can():
        assert graph in indexes_of(member.caller, lambda: found(member.caller, vectors[0], 10))
        # What it finds of the nearest depends on what else is in the table: the benchmarks measure it.
        assert len(found(member.caller, vectors[0], 50)) == 50


def test_signatures_are_read_from_the_index_alone(filled):
    member, vectors, _episodes = filled
    used = indexes_of(member.caller, lambda: found(member.caller, vectors[0], 10))
    assert used & {"embedding_of_user", "embedding_of_agent"}  # there is one user, and one agent for most
    assert "embedding_episode_model" in used
    assert "SEQ episode_embeddings" not in used


@pytest.mark.parametrize("k", [1, 50, 1_000, COUNT, COUNT + 1])
def test_as_many_are_found_as_are_wanted(filled, k):
    member, vectors, _episodes = filled
    assert len(found(member.caller, vectors[7], k)) == min(k, COUNT)


@pytest.mark.parametrize("named", [{"topics": ("rare",)}, {"agent_id": "rare"}])
def test_of_a_few_among_many_all_are_found(filled, named):
    member, _vectors, _episodes = filled
    for query in clustered(15, seed=8):  # more than the executions after which PostgreSQL changes plans
        assert len(found(member.caller, query, RARE, **named)) == RARE
        assert len(found(member.caller, query, 50, **named)) == RARE


def test_as_many_are_found_where_a_graph_comes_to_its_end_among_others(filled, graph, monkeypatch):
    """What the graph itself finds is too few: the guarantee is what comes after it."""
    member, _vectors, _episodes = filled
    soon = "SET LOCAL hnsw.ef_search = 20; SET LOCAL hnsw.iterative_scan = off; "
    monkeypatch.setattr(vector_queries, "WITH_GRAPH", soon)
    for query in clustered(15, seed=9):  # more than the executions after which PostgreSQL changes plans
        with scope(member.caller.tenant_id), by_index_if_it_can():
            assert len(vector_queries.nearest_ids(near(member, query), limit=50, way="graph")) <= 20
        assert len(found(member.caller, query, 50)) == 50


def test_the_newest_are_among_the_candidates_by_each_way(filled, graph):
    member, vectors, episodes = filled
    newest = {one.id for one in episodes[-10:]}
    for way_from in (2_000, 1_000_000):
        nearest.GRAPH_FROM = way_from  # put back by the fixture
        ids = candidate_ids(
            caller=member.caller, vector=vectors[7], where=EpisodeFilter(user_id="ann"),
            wanted=Wanted(nearest=50, newest=10),
        )  # fmt: skip
        assert len(ids) >= 50
        assert newest <= set(ids)
        assert episodes[7].id == ids[0]


def test_another_tenants_are_never_found(filled):
    member, vectors, episodes = filled
    mine = {one.id for one in episodes}
    for query in vectors[:20]:
        assert set(found(member.caller, query, 100)) <= mine


@pytest.mark.parametrize("k", [1, 3, 10, 50])
def test_what_searches_find_is_watched(filled, settings, k):
    settings.RECALL_MONITOR_SHARE = 1.0
    samples = FOUND_OF_NEAREST.labels("signatures")
    before = samples._sum.get()
    found(filled[0].caller, filled[1][3], k)
    deadline = time.monotonic() + 10
    while samples._sum.get() == before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert samples._sum.get() - before == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("lean", [0.0, 1.0, 3.0, 50.0])
def test_the_more_vectors_lean_to_one_side_the_more_are_compared(lean):
    """All of them at last: then the signs tell nothing."""
    leaning = clustered(COUNT) + lean * unit_vectors(1, seed=77)
    leaning /= np.linalg.norm(leaning, axis=1, keepdims=True)
    entropy = entropy_of(["".join("01"[int(bit)] for bit in one > 0) for one in leaning[:SAMPLE]])
    near = Near(UUID(int=0), "m", leaning[0], EpisodeFilter(), Size(COUNT, entropy))
    shares = []
    for query in leaning[:40]:
        differing = ((leaning > 0) != (query > 0)).sum(axis=1)
        promising = set(np.argsort(differing, kind="stable")[: near.promising(10, "signatures")].tolist())
        nearest_ten = np.argsort(-(leaning @ query), kind="stable")[:10].tolist()
        shares.append(len(promising & set(nearest_ten)) / 10)
    exact = nearest.way_to(near, 10) == "exact"
    assert exact == (lean >= 3)
    assert exact or np.mean(shares) >= 0.98


def test_nothing_is_watched_where_all_are_compared(acme, settings, monkeypatch):
    settings.RECALL_MONITOR_SHARE = 1.0
    watched = []
    monkeypatch.setattr(nearest, "watch", lambda *given: watched.append(given))
    vectors = unit_vectors(3)
    fill(acme.caller, vectors, user_id="ann")
    assert len(found(acme.caller, vectors[0], 5)) == 3
    assert not watched
