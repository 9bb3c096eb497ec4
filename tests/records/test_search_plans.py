"""Which index serves which part of a search among records, as the app role, with 100,000 of them."""

from collections.abc import Iterator

import pytest
from django.db import connections

from episodic import survey_queries, surveys
from episodic.record_tests import FieldTest
from episodic.survey_queries import Sought
from episodic.types import EpisodeFilter
from providers.embeddings import get_embedder
from tenants.caller import Caller
from tenants.scope import scope
from tests.conftest import make_member
from tests.episodic.test_query_plans import COPY_EPISODES, COPY_VECTORS, COPY_WORDS
from tests.plans import indexes_of
from tests.recall.vectors import fill, unit_vectors

ROWS = 100_000
QUERY = unit_vectors(1, seed=3)[0]
COPY_ACCESSES = """
INSERT INTO episode_access (id, tenant_id, user_id, agent_id, last_accessed_at, access_count)
SELECT id, tenant_id, user_id, agent_id, created_at, 1 FROM agent_episodes WHERE tenant_id = %(tenant)s
"""
OF_ANA = EpisodeFilter(user_id="u3")
SMALL = EpisodeFilter(tests=(FieldTest("session_id", "eq", "s3"),))


@pytest.fixture(scope="module")
def caller(server: str) -> Iterator[Caller]:
    """Acme with 100,000 embedded records: 500 of each user, 50 of each session, 5,000 of each agent."""
    member = make_member("acme", server)
    fill(member.caller, unit_vectors(1))
    params = {"tenant": member.caller.tenant_id, "rows": ROWS, "model": get_embedder().model}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_EPISODES, params)
        cursor.execute(COPY_VECTORS, params)
        cursor.execute(COPY_WORDS, params)
        cursor.execute(COPY_ACCESSES, params)
        cursor.execute("ANALYZE agent_episodes, episode_embeddings, episode_search, episode_access")
    return member.caller


def sought(caller, where, *, vector=QUERY, terms=()):
    return Sought(caller.tenant_id, where, vector, get_embedder().model, terms)


def whole_tables(used):
    """But for that of which model each tenant has: as long as that is short it is read as a whole."""
    return {one for one in used if one.startswith("SEQ")} - {"SEQ tenants_tenantembedding"}


def test_a_user_s_records_are_read_by_the_user_s_indexes(caller):
    used = indexes_of(caller, lambda: survey_queries.survey(sought(caller, OF_ANA, terms=("'episode'",))))
    assert {"episode_user", "embedding_of_user", "episode_access_user"} <= used
    assert not whole_tables(used)


def test_what_a_filter_leaves_of_a_large_subject_is_read_one_by_one(caller):
    asked = sought(caller, SMALL, terms=("'episode'",))
    used = indexes_of(caller, lambda: survey_queries.admitted_ids(asked, most=surveys.EVERY + 1))
    assert used == {"episode_session"}
    with scope(caller.tenant_id):
        ids = survey_queries.admitted_ids(asked, most=surveys.EVERY + 1)
    assert len(ids) == 50
    used = indexes_of(caller, lambda: survey_queries.survey(asked, ids=ids))
    assert {"agent_episodes_pkey", "embedding_episode_model", "episode_search_pkey"} <= used
    assert not whole_tables(used)
    used = indexes_of(caller, lambda: survey_queries.read(tenant_id=caller.tenant_id, ids=ids[:10]))
    assert used == {"agent_episodes_pkey", "episode_access_pkey"}


def test_the_newest_of_all_come_from_their_index(caller):
    everybody = sought(caller, EpisodeFilter())
    assert indexes_of(caller, lambda: survey_queries.newest(everybody, most=250)) == {"episode_recent"}


def test_a_step_through_a_large_subject_reads_that_alone(caller):
    def step():
        survey = next(
            surveys.survey_by_steps(
                caller=caller, where=EpisodeFilter(agent_id="a3"), vector=QUERY, words=None, end=10
            )
        )
        assert survey.unseen is not None
        assert survey.total == ROWS / 20 - 3  # which wait for their vectors

    used = indexes_of(caller, step)
    assert {"embedding_of_agent", "episode_agent", "episode_access_agent"} <= used
    assert not whole_tables(used)


def test_words_are_counted_by_their_index(caller):
    asked = sought(caller, SMALL, vector=None, terms=("'episode'",))
    with scope(caller.tenant_id):
        assert survey_queries.count_holding(asked) == 50
    one = sought(caller, OF_ANA, vector=None, terms=("'203'", "'403'"))
    with scope(caller.tenant_id):
        assert survey_queries.count_holding(one) == 2
