"""In a subject of usual size the vector arm is exact: it answers what numpy answers, at the first and at the
thousandth execution."""

import numpy as np
import pytest
from django.db import connection

from episodic.nearest import EXACT_UP_TO
from episodic.search import nearest_episodes
from episodic.types import EpisodeFilter
from tenants.scope import scope
from tests.conftest import make_member
from tests.recall.vectors import fill, unit_vectors

COUNT = EXACT_UP_TO


@pytest.fixture(scope="module")
def filled(server):
    acme = make_member("acme", server)
    vectors = unit_vectors(COUNT)
    episodes = fill(
        acme.caller, vectors, user_id="u1", agent_id=lambda n: f"agent {n % 10}",
        topics=lambda n: ["rare"] if n % 200 == 0 else ["common"],
    )  # fmt: skip
    return acme.caller, vectors, episodes


def by_numpy(vectors, episodes, query, k, keep=lambda n: True):
    kept = [n for n in range(len(vectors)) if keep(n)]
    cosines = vectors[kept].astype(np.float64) @ query.astype(np.float64)
    order = np.argsort(-cosines, kind="stable")[:k]
    return [(episodes[kept[at]].id, cosines[at]) for at in order]


def found(caller, query, k, **named):
    hits = nearest_episodes(caller=caller, vector=query, where=EpisodeFilter(**named), limit=k)
    return [(one.episode.id, one.cosine) for one in hits]


def assert_same(actual, expected):
    """The same episodes with the same cosines; PostgreSQL adds in single precision, so near ties may swap."""
    true = dict(expected)
    assert len(actual) == len(true)
    assert [true[one] for one, _cosine in actual] == pytest.approx([c for _one, c in expected], abs=1e-6)
    assert [c for _one, c in actual] == pytest.approx([c for _one, c in expected], abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 100, COUNT, COUNT + 1])
def test_the_nearest_are_those_that_numpy_finds(filled, k):
    caller, vectors, episodes = filled
    for query in unit_vectors(5, seed=1):
        assert_same(found(caller, query, k, user_id="u1"), by_numpy(vectors, episodes, query, k))


def test_a_filter_that_few_match_is_exact_too(filled):
    caller, vectors, episodes = filled
    for query in unit_vectors(5, seed=2):
        rare = by_numpy(vectors, episodes, query, 5, keep=lambda n: n % 200 == 0)
        assert_same(found(caller, query, 5, user_id="u1", topics=("rare",)), rare)
        one_agent = by_numpy(vectors, episodes, query, 10, keep=lambda n: n % 10 == 3)
        assert_same(found(caller, query, 10, agent_id="agent 3"), one_agent)


def test_as_many_as_asked_for_are_answered_at_the_thousandth_execution_too(filled):
    """A prepared statement changes its plan after some executions; a generic plan once lost rows."""
    caller, _vectors, _episodes = filled
    queries = unit_vectors(1_000, seed=3)
    where = [{"user_id": "u1", "topics": ("rare",)}, {"agent_id": "agent 3", "user_id": "u1"}]
    with scope(caller.tenant_id):  # one connection throughout, as a prepared statement would live on
        for n, query in enumerate(queries):
            assert len(found(caller, query, 5, **where[n % 2])) == 5
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_prepared_statements")
            assert cursor.fetchone() == (0,)


def test_equal_vectors_have_a_stable_order(acme):
    same = np.repeat(unit_vectors(1), 30, axis=0)
    fill(acme.caller, same, user_id="u1")
    first = found(acme.caller, same[0], 10, user_id="u1")
    assert all(found(acme.caller, same[0], 10, user_id="u1") == first for _ in range(5))


def test_the_rows_of_another_tenant_do_not_count(acme, globex):
    vectors = unit_vectors(50)
    fill(acme.caller, vectors, user_id="u1")
    fill(globex.caller, vectors[:7], user_id="u1")
    assert len(found(globex.caller, vectors[0], 50, user_id="u1")) == 7


def test_vectors_of_another_model_do_not_compare(acme):
    from episodic.models import EpisodeEmbedding

    vectors = unit_vectors(3)
    episodes = fill(acme.caller, vectors, user_id="u1")
    with scope(acme.caller.tenant_id):
        EpisodeEmbedding.objects.filter(episode_id=episodes[0].id).update(model="another")
    assert {one for one, _c in found(acme.caller, vectors[0], 9, user_id="u1")} == {
        e.id for e in episodes[1:]
    }
