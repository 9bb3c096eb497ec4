"""Which index serves the sessions of a project."""

import pytest
from django.db import connections

from tests.conftest import make_member
from tests.working.test_query_plans import plans
from working.listing import count_in_project, list_projects, newest_sessions, newest_summaries

ROWS = 20_000
SESSIONS = """
INSERT INTO working_session (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                             started_at, opened_at, last_activity_at, last_seq, turn_count, summarised_seq,
                             summary)
SELECT gen_random_uuid(), %(tenant)s, '', 'u' || n %% 200, 's' || n, '', 'Project' || n %% 200, '{}',
       now() - n * interval '1 second', now(), now(), 0, 0, 0, CASE WHEN n %% 50 = 0 THEN 'told' ELSE '' END
FROM generate_series(1, %(rows)s) n
"""


@pytest.fixture(scope="module")
def big(server: str):
    member = make_member("big", server)
    with connections["owner"].cursor() as cursor:
        cursor.execute(SESSIONS, {"tenant": member.tenant.id, "rows": ROWS})
        cursor.execute("ANALYZE working_session")
    yield member
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM working_session WHERE tenant_id = %s", [member.tenant.id])


@pytest.mark.parametrize(
    ("read", "index"), [(newest_sessions, "session_project"), (newest_summaries, "session_project_summary")]
)
def test_the_newest_are_read_from_the_index_in_their_order(big, read, index):
    with plans("default") as lines:
        found = read(caller=big.caller, project="project50", limit=3)
    assert [one.external_id for one in found] == ["s50", "s250", "s450"]
    assert any(line == f"Index Scan {index}" for line in lines), lines
    assert not any(line.startswith(("Sort", "Seq Scan")) for line in lines), lines


def test_counting_reads_the_project_alone(big):
    with plans("default") as lines:
        assert count_in_project(caller=big.caller, project="project7") == ROWS // 200
    assert any(line.endswith(" session_project") for line in lines), lines


def test_projects_are_listed_by_name(big):
    assert list_projects(caller=big.caller) == sorted(f"project{n}" for n in range(200))
