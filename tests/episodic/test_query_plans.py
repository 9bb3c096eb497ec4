"""Which index serves which query, seen as the app role with row-level security in force."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import psycopg
import pytest
from django.db import connections

from episodic import embedding
from episodic.episodes import list_episodes
from episodic.models import Episode, EpisodeWords
from episodic.nearest import nearest_ids
from episodic.querysets import nearest_facts
from episodic.record_tests import FieldTest
from episodic.retention_queries import OldEpisodes, count_episodes, has_episodes, oldest_episode
from episodic.search import nearest_episodes
from episodic.types import EpisodeFilter, EpisodeTraits
from episodic.word_queries import around, figures_of
from providers.embeddings import get_embedder
from tenants.caller import Caller
from tenants.scope import scope
from tests.conftest import make_member
from tests.plans import indexes_of
from tests.plugin import STORES
from tests.recall.vectors import fill, unit_vectors

ROWS = 20_000
# Row n of 20,000: one of 200 users, 20 agents, 2,000 sessions; written at once, which the ORM does not do.
COPY_EPISODES = """
INSERT INTO agent_episodes (id, tenant_id, namespace, user_id, agent_id, project, session, memory_type,
                            origin, text, topics, entities, outcome, metadata, created_at, embed_pending)
SELECT gen_random_uuid(), %(tenant)s, '', 'u' || n %% 200, 'a' || n %% 20, '', 's' || n %% 2000, 'episodic',
       'saved', 'episode ' || n, '{}', '{}', '', '{}', now() - n * interval '1 second', n < 50
FROM generate_series(1, %(rows)s) n
"""
COPY_VECTORS = """
INSERT INTO episode_embeddings (id, tenant_id, episode_id, agent_id, user_id, model, embedding, created_at)
SELECT gen_random_uuid(), tenant_id, id, agent_id, user_id, %(model)s,
       (SELECT embedding FROM episode_embeddings WHERE tenant_id = %(tenant)s LIMIT 1), now()
FROM agent_episodes e WHERE tenant_id = %(tenant)s AND text <> 'episode 0'
"""
# Ten places of a session each, in the order they were written.
COPY_WORDS = """
INSERT INTO episode_search (id, tenant_id, user_id, agent_id, thread, place, speaker, names, asks, tells_time,
                            happened_at, created_at, length, lexemes)
SELECT id, tenant_id, user_id, agent_id, md5(session)::uuid,
       row_number() OVER (PARTITION BY session ORDER BY id),
       '', '{}', false, false, created_at, created_at, 2, to_tsvector('simple', text)
FROM agent_episodes WHERE tenant_id = %(tenant)s AND text <> 'episode 0'
"""


@pytest.fixture(scope="module")
def caller(server: str) -> Iterator[Caller]:
    """Acme with 20,000 embedded episodes."""
    member = make_member("acme", server)
    fill(member.caller, unit_vectors(1))
    params = {"tenant": member.caller.tenant_id, "rows": ROWS, "model": get_embedder().model}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_EPISODES, params)
        cursor.execute(COPY_VECTORS, params)
        cursor.execute(COPY_WORDS, params)
        cursor.execute("ANALYZE agent_episodes, episode_embeddings, episode_search")
    return member.caller


def nearest(caller: Caller, **named: object) -> Callable[[], object]:
    return lambda: nearest_episodes(
        caller=caller, vector=unit_vectors(1)[0], where=EpisodeFilter(**named), limit=5
    )


def listed(caller: Caller, **named: object) -> Callable[[], object]:
    return lambda: list_episodes(caller=caller, where=EpisodeFilter(**named), limit=20)


def test_search_of_a_user_reads_that_users_vectors_only(caller):
    used = indexes_of(caller, nearest(caller, user_id="u3"))
    assert "embedding_of_user" in used
    assert not any(one.startswith("SEQ") for one in used)


def test_search_of_an_agent_reads_that_agents_vectors_only(caller):
    used = indexes_of(caller, nearest(caller, agent_id="a3"))
    assert "embedding_of_agent" in used
    assert not any(one.startswith("SEQ") for one in used)


def test_search_of_what_is_nobodys_of_an_agent_looks_into_no_episode(caller):
    where = EpisodeFilter(agent_id="a3", tests=(FieldTest("user_id", "eq", ""),))
    named = {"tenant_id": caller.tenant_id, "model": get_embedder().model, "where": where}
    used = indexes_of(caller, lambda: nearest_ids(vector=unit_vectors(1)[0], limit=5, **named))
    assert used
    assert used <= {"embedding_of_agent", "embedding_of_user"}


def test_search_of_a_session_reads_that_sessions_episodes_only(caller):
    used = indexes_of(caller, nearest(caller, session_id="s3"))
    assert "episode_session" in used
    assert "SEQ agent_episodes" not in used


@pytest.mark.parametrize(("beside", "further"), [
    ({}, set()), ({"agent_id": "a3"}, set()), ({"memory_types": ("episodic",)}, {"agent_episodes_pkey"}),
    ({"agent_id": "a3", "memory_types": ("episodic",)}, {"agent_episodes_pkey"}),
])  # fmt: skip
def test_the_turns_around_are_reached_one_by_one(caller, beside, further):
    with scope(caller.tenant_id):
        mine = EpisodeWords.objects.filter(tenant_id=caller.tenant_id)  # ids at random
        ids = list(mine.order_by("id").values_list("id", flat=True)[:100])

    def run():
        found = around(
            tenant_id=caller.tenant_id, ids=ids, terms=["'a'"], query=unit_vectors(1)[0],
            model=get_embedder().model, reach=2, beside=EpisodeFilter(**beside),
        )  # fmt: skip
        assert len(found) > len(ids)

    expected = {"episode_search_pkey", "episode_search_place", "embedding_episode_model"} | further
    assert indexes_of(caller, run) == expected
    with forgotten("episode_search"):
        assert indexes_of(caller, run) == expected, "as right after an import"


@contextmanager
def forgotten(table: str) -> Iterator[None]:
    """PostgreSQL has never analysed the table."""
    with psycopg.connect(STORES.postgres.superuser_url("strata"), autocommit=True) as connection:
        connection.execute("DELETE FROM pg_statistic WHERE starelid = %s::regclass", [table])
        connection.execute(
            "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = %s::regclass", [table]
        )
        yield
        connection.execute(f"ANALYZE {table}")


def test_the_figures_of_a_user_are_read_from_the_index(caller):
    used = indexes_of(
        caller, lambda: figures_of(tenant_id=caller.tenant_id, where=EpisodeFilter(user_id="u3"))
    )
    assert used == {"episode_search_user"}


def test_lists_of_a_user_an_agent_and_a_session_use_their_indexes(caller):
    assert "episode_user" in indexes_of(caller, listed(caller, user_id="u3"))
    assert "episode_agent" in indexes_of(caller, listed(caller, agent_id="a3"))
    assert "episode_session" in indexes_of(caller, listed(caller, session_id="s3"))


def test_lists_of_what_is_pinned_and_of_a_project_use_their_indexes(caller):
    pinned = EpisodeTraits(pinned=True)
    assert indexes_of(
        caller, lambda: list_episodes(caller=caller, where=EpisodeFilter(), traits=pinned, limit=20)
    ) == {"episode_pinned"}
    assert indexes_of(caller, listed(caller, project="p")) == {"episode_project"}


def test_the_list_of_all_reads_its_page_only(caller):
    assert indexes_of(caller, listed(caller)) == {"episode_recent"}


def test_a_new_statement_is_compared_with_its_memory_only(caller):
    like = Episode(tenant_id=caller.tenant_id, user_id="u3", agent_id="a3")
    model, vector = get_embedder().model, unit_vectors(1)[0]
    used = indexes_of(caller, lambda: nearest_facts(like=like, model=model, query=vector, limit=8))
    assert not any(one.startswith("SEQ") for one in used)


def test_retention_reads_what_it_is_about_only(caller):
    old = OldEpisodes(caller.tenant_id, datetime.now(UTC))
    for ask in (has_episodes, count_episodes):
        assert indexes_of(caller, lambda ask=ask: ask(old)) == {"episode_retention"}
    assert indexes_of(caller, lambda: oldest_episode(caller.tenant_id)) == {"episode_retention"}


def test_the_sweeper_reads_what_waits_only(caller):
    used = indexes_of(
        caller,
        lambda: list(
            Episode.objects.filter(tenant_id=caller.tenant_id, embed_pending=True).order_by("id")[
                : embedding.BATCH
            ]
        ),
    )
    assert used == {"episode_embed_pending"}
