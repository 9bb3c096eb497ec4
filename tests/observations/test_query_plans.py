"""Which index serves which query, and how much of it is read, as PostgreSQL itself counts: as the app role
with row-level security in force, also within the definer functions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.db import connection, connections
from django.utils import timezone

from observations import querysets
from observations.models import Observation
from observations.observations import access_observation, list_observations
from observations.saving import save_observation
from observations.search import corpora_of, search_by_meaning
from observations.selecting import list_names, list_selected
from observations.timeline import read_timeline
from observations.trash import delete_observation
from observations.types import NewObservation, ObservationFilter, Selection
from tenants.caller import Caller
from tenants.scope import scope
from tests.conftest import make_member
from tests.observations.notes import fill, search, stored
from tests.plans import vacuum
from tests.recall.vectors import unit_vectors

ROWS = 20_000
TABLES = ("observations_observation", "observation_search", "observation_embeddings")
# Row n of 20,000: one of 100 projects, each hundredth global; written at once, which the ORM does not do.
COPY_ROWS = """
INSERT INTO observations_observation (tenant_id, user_id, agent_id, project, session, scope, type, title,
    content, tags, topic_key, normalized_hash, revision_count, duplicate_count, promoted_to, created_at,
    updated_at, deleted_at, embed_pending)
SELECT %(tenant)s, 'u' || n %% 50, '', 'p' || n %% 100, 's' || n %% 500,
    CASE WHEN n %% 97 = 0 THEN 'global' ELSE 'project' END, 't', 'title', 'word' || n, '{}', 'k' || n,
    md5(n::text), 1, 1, '', now() - n * interval '1 minute', now(),
    CASE WHEN n %% 89 = 0 THEN now() - n * interval '1 second' END, n < 50
FROM generate_series(1, %(rows)s) n
"""
# As `observations.lexemes.mark_of` has it.
COPY_ENTRIES = """
INSERT INTO observation_search (id, tenant_id, corpus, user_id, scope, type, created_at, length, lexemes)
SELECT id, tenant_id, corpus, user_id, scope, type, created_at, 2,
    array_to_tsvector(ARRAY[mark || content, mark || 'titl'])
FROM observations_observation,
    LATERAL (SELECT CASE WHEN scope = 'global' THEN '' ELSE project END) AS c (corpus),
    LATERAL (SELECT replace(tenant_id::text, '-', '') || '/' || corpus) AS n (name),
    LATERAL (SELECT encode(substr(sha256(name::bytea), 1, 3), 'base64')) AS d (digest),
    LATERAL (SELECT translate(digest, '+/', '-_')) AS m (mark)
WHERE tenant_id = %(tenant)s AND deleted_at IS NULL
"""
COPY_VECTORS = """
INSERT INTO observation_embeddings (id, tenant_id, observation_id, corpus, user_id, model, embedding,
    created_at)
SELECT gen_random_uuid(), s.tenant_id, s.id, corpus, s.user_id, 'all-MiniLM-L6-v2',
    (SELECT array_agg(random() - 0.5) FROM generate_series(1, 384) WHERE s.id > 0)::vector, now()
FROM observation_search s JOIN observations_observation o USING (tenant_id, id)
WHERE s.tenant_id = %(tenant)s AND substr(o.content, 5)::int %% 4 = 0
"""


@pytest.fixture(scope="module")
def caller(server: str) -> Iterator[Caller]:
    """Acme with 20,000 observations in 100 projects."""
    member = make_member("acme", server)
    params = {"tenant": member.caller.tenant_id, "rows": ROWS}
    with connections["owner"].cursor() as cursor:
        for statement in (COPY_ROWS, COPY_ENTRIES, COPY_VECTORS):
            cursor.execute(statement, params)
            # Else the next one may be planned for as few rows as there were before.
            cursor.execute(f"ANALYZE {', '.join(TABLES)}")
    fill(member.caller, ["a word of its own"] * 3, project="p7")
    # Few, and older than all others: whoever reads the newest first comes to them last.
    fill(member.caller, ["seldom"] * 25, project="p8", type="rare", agent_id="rare", session="rare")
    vacuum(*TABLES)
    return member.caller


@dataclass
class Reads:
    """Entries that were read of each index, rows of each table, and tables that were read through."""

    indexes: dict[str, int]
    rows: dict[str, int]
    through: set[str]


# Rows that an index led to are counted with the index.
COUNTED = """
SELECT c.relname, coalesce(i.indrelid, c.oid)::regclass::text, pg_stat_get_xact_numscans(c.oid),
       pg_stat_get_xact_tuples_returned(c.oid), pg_stat_get_xact_tuples_fetched(c.oid)
FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
WHERE coalesce(i.indrelid, c.oid) = ANY (%(tables)s::text[]::regclass[])
"""


def reads(caller: Caller, run: Callable[[], object]) -> Reads:
    found = Reads({}, dict.fromkeys(TABLES, 0), set())
    with scope(caller.tenant_id):
        before = _counted()
        run()
        for (name, table), figures in _counted().items():
            scans, returned, fetched = (
                now - then for now, then in zip(figures, before[name, table], strict=True)
            )
            found.rows[table] += fetched
            if name == table:
                found.rows[table] += returned
                found.through |= {name} if scans else set()
            elif scans:
                found.indexes[name] = returned
    return found


def _counted() -> dict[tuple[str, str], list[int]]:
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, {"tables": list(TABLES)})
        return {(name, table): figures for name, table, *figures in cursor.fetchall()}


def listed(caller: Caller, *, trashed: bool = False, **where: object) -> Reads:
    def run() -> None:
        wanted = ObservationFilter(**where)
        assert len(list_observations(caller=caller, where=wanted, limit=20, trashed=trashed)) == 20

    return reads(caller, run)


def test_the_list_of_a_project_reads_a_page_of_its_own_and_one_of_the_global_ones(caller):
    found = listed(caller, project="p3")
    assert set(found.indexes) == {"observation_project", "observation_global"}
    assert sum(found.indexes.values()) <= 60
    assert found.through == set()


def test_lists_of_all_of_a_user_of_the_global_ones_and_of_the_trash_read_their_pages(caller):
    for where, index in (
        ({}, "observation_recent"),
        ({"scope": "global"}, "observation_global"),
        ({"user_id": "u3"}, "observation_user"),
        ({"trashed": True}, "observation_trash"),
        ({"project": "p3", "scope": "project"}, "observation_project"),
    ):
        found = listed(caller, **where)
        assert set(found.indexes) == {index}, where
        assert found.indexes[index] <= 60, where
        assert found.through == set(), where


@pytest.mark.parametrize(
    ("where", "sort", "index"),
    [
        ({}, "newest", "observation_recent"),
        ({}, "updated", "observation_updated"),
        ({"type": "rare"}, "newest", "observation_type"),
        ({"agent_id": "rare"}, "newest", "observation_agent"),
        ({"session_id": "rare"}, "newest", "observation_session"),
        ({"project": "p3"}, "newest", "observation_project"),
        ({"user_id": "u3"}, "newest", "observation_user"),
        ({"trashed": True}, "newest", "observation_trash"),
    ],
)
def test_a_list_that_people_look_through_reads_its_page(caller, where, sort, index):
    def run() -> None:
        assert len(list_selected(caller=caller, where=Selection(**where), limit=20, sort=sort)) == 20

    found = reads(caller, run)
    assert set(found.indexes) == {index}
    assert found.indexes[index] <= 30
    assert found.through == set()


def test_names_are_stepped_through_not_read_row_by_row(caller):
    found = reads(caller, lambda: list_names(caller=caller))
    assert found.through == set()
    assert sum(found.indexes.values()) <= 250, "of 20,000, in 100 projects"


def test_words_are_looked_up_in_the_index_of_lexemes(caller):
    for mode in ("all", "any"):
        found = reads(caller, lambda mode=mode: search(caller, "a word of its own", project="p7", mode=mode))
        assert found.indexes["observation_lexemes"] > 0
        assert found.through == set()
        # The candidates, once for their lexemes and once for the text; the corpus is counted from the index.
        assert found.rows["observation_search"] <= 40
        assert found.rows["observations_observation"] <= 10


def test_words_are_looked_up_there_also_before_the_planner_knows_of_a_new_tenant(server):
    young = make_member("young", server).caller
    fill(young, [f"common word{n}" for n in range(1_500)])
    for text in ("common word7", "word8 word9"):
        found = reads(young, lambda text=text: search(young, text, mode="any", scope="project"))
        assert found.indexes["observation_lexemes"] > 0
        assert found.rows["observation_search"] <= 4_510, "to count all, the common word, and to rank"
    assert found.rows["observation_search"] <= 10
    assert found.through == set()


def test_a_search_reads_nothing_of_other_projects(caller):
    """All 20,000 hold the word; each lexeme begins with a mark of its corpus."""
    fill(caller, ["title here"] * 2, project="small")
    found = reads(caller, lambda: search(caller, "title", project="small", scope="project", mode="all"))
    assert found.rows["observation_search"] <= 10
    assert found.indexes["observation_lexemes"] <= 10


def test_the_size_of_a_corpus_is_counted_from_the_index_alone(caller):
    def run() -> None:
        size = querysets.size_of(tenant_id=caller.tenant_id, corpora=["p3", ""], user_id="")
        assert size[0] > 300

    found = reads(caller, run)
    assert set(found.indexes) == {"observation_corpus"}
    assert found.rows["observation_search"] <= 5, "those on pages that changed since the last VACUUM"
    assert found.through == set()


def test_the_names_of_all_projects_are_read_in_one_step_each(caller):
    def run() -> None:
        assert len(querysets.corpora_in(caller.tenant_id)) >= 101

    found = reads(caller, run)
    assert set(found.indexes) == {"observation_corpus"}
    assert found.indexes["observation_corpus"] <= 250
    assert found.through == set()


def nearest(caller: Caller, *, exact: bool, limit: int = 20, **where: object) -> Reads:
    wanted = ObservationFilter(**where)
    names = corpora_of(caller, wanted).names

    def run() -> None:
        found = querysets.nearest(
            tenant_id=caller.tenant_id, model="all-MiniLM-L6-v2", query=unit_vectors(1)[0],
            corpora=names, where=wanted, limit=limit, exact=exact,
        )  # fmt: skip
        assert len(found) == limit

    return reads(caller, run)


def test_exact_search_by_meaning_reads_its_corpora_only(caller):
    found = nearest(caller, exact=True, project="p4")
    assert set(found.indexes) == {"observation_embedding_corpus"}
    assert found.rows["observation_embeddings"] <= 400
    assert found.through == set()


def test_exact_search_in_everything_never_takes_the_approximate_index(caller):
    assert "observation_nearest" not in nearest(caller, exact=True).indexes


def test_approximate_search_takes_its_index_and_reads_no_more_than_it_needs(caller):
    found = nearest(caller, exact=False)
    assert set(found.indexes) == {"observation_nearest"}
    assert found.rows["observation_embeddings"] <= 400
    assert found.through == set()


def test_the_approximate_index_is_taken_only_for_a_large_part_of_all(caller, monkeypatch):
    vector = unit_vectors(1)[0]
    everything = corpora_of(caller, ObservationFilter())
    one = corpora_of(caller, ObservationFilter(project="p4"))
    monkeypatch.setattr("observations.search.EXACT_UP_TO", 10)
    found = reads(caller, lambda: search_by_meaning(everything, vector, 20))
    assert "observation_nearest" in found.indexes
    found = reads(caller, lambda: search_by_meaning(one, vector, 20))
    assert "observation_nearest" not in found.indexes


def test_where_the_index_finds_too_few_all_are_compared(caller, monkeypatch):
    """One user's few among very many: the approximate search comes back short."""
    monkeypatch.setattr("observations.search.EXACT_UP_TO", 10)
    monkeypatch.setattr("observations.search.APPROXIMATE_FROM", 0.0)
    monkeypatch.setattr("observations.search.LEAST_COSINE", -1.0)
    mine = corpora_of(caller, ObservationFilter(user_id="u4"))
    told = []
    found = reads(caller, lambda: told.append(search_by_meaning(mine, unit_vectors(1)[0], 60)))
    assert len(told[0]) == 60
    assert found.through <= {"observation_embeddings"}


def test_saving_looks_up_its_topic_and_its_duplicate(caller, settings):
    settings.MEMORY_DEDUPE_WINDOW = 1e9  # else the newest of the user are fewer still
    new = NewObservation("s1", "t", "title", "word 99", "p3", topic_key="k99x")
    found = reads(caller, lambda: save_observation(caller=caller, new=new, now=timezone.now()))
    assert {"observation_topic", "observation_duplicate"} <= set(found.indexes)
    assert found.through == set()
    assert found.rows["observations_observation"] <= 5


def test_one_is_read_by_its_number_and_deleted_without_a_search(caller):
    (one,) = stored(caller, content="word123")
    found = reads(caller, lambda: access_observation(caller=caller, observation_id=one.id))
    assert found.rows["observations_observation"] == 1
    found = reads(
        caller,
        lambda: delete_observation(caller=caller, observation_id=one.id, hard=True, now=timezone.now()),
    )
    assert found.through == set()
    assert sum(found.rows.values()) <= 10


def test_a_question_with_a_slash_reads_topics_or_its_small_project_but_never_the_table(caller):
    with scope(caller.tenant_id):
        Observation.objects.filter(tenant_id=caller.tenant_id).exclude(topic_key="k7").update(topic_key="")
    vacuum("observations_observation")
    found = reads(caller, lambda: search(caller, "why does src/app.py fail?", mode="all", project="p7"))
    assert found.through == set()
    assert (
        found.rows["observations_observation"] <= 250
    )  # of 20,000: the planner takes whichever of the two it holds for shorter


def test_a_timeline_reads_its_neighbours_only(caller):
    (one,) = stored(caller, content="word10003")

    def run() -> None:
        assert len(read_timeline(caller=caller, observation_id=one.id, before=3, after=3)) == 7

    found = reads(caller, run)
    assert found.through == set()
    assert found.rows["observations_observation"] <= 20  # of some 200 in the project


def test_what_waits_for_its_vector_is_found_by_an_index(caller):
    from observations.embedding import Observation as Row

    def run() -> None:
        list(
            Row.objects.filter(tenant_id=caller.tenant_id, embed_pending=True, deleted_at=None).order_by(
                "id"
            )[:64]
        )

    found = reads(caller, run)
    assert set(found.indexes) == {"observation_pending"}
    assert found.through == set()
