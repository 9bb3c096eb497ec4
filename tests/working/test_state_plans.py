"""Which index serves the search for sessions whose hold is over, as the app role, with 20,000 sessions."""

from collections.abc import Iterator

import pytest
from django.db import connections
from django.utils import timezone

from tenants.scope import scope
from tests.conftest import Member, make_member
from tests.plans import indexes_of
from tests.working.test_query_plans import COPY_SESSIONS
from working.retention import forget_states, has_states_over
from working.workspace import list_workspaces

ROWS, OVER = 20_000, 40
# Most are kept for good; of the others some are over.
COPY_STATES = """
INSERT INTO working_state (id, tenant_id, session_id, data, memories, strategy, tokens, expires_at, stamps,
                           extracted_seq, created_at, updated_at)
SELECT gen_random_uuid(), tenant_id, id, '{"x": 1}', '[]', '{}', 0,
       CASE WHEN n <= %(over)s THEN now() - interval '1 hour'
            WHEN n <= 400 THEN now() + interval '1 day' END, '{}', 0, now(), now()
FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM working_session WHERE tenant_id = %(tenant)s) s
"""


@pytest.fixture
def big(server: str) -> Iterator[Member]:
    member = make_member("big", server)
    params = {"tenant": member.tenant.id, "rows": ROWS, "over": OVER}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_SESSIONS, params)
        cursor.execute(COPY_STATES, params)
        cursor.execute("ANALYZE working_session, working_state")
    yield member
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM working_state WHERE tenant_id = %(tenant)s", params)
        cursor.execute("DELETE FROM working_session WHERE tenant_id = %(tenant)s", params)


def test_the_sweep_reads_those_that_are_over_alone(big):
    tenant, now = big.tenant.id, timezone.now()
    assert indexes_of(big.caller, lambda: has_states_over(tenant_id=tenant, now=now)) == {"state_expires"}
    used = indexes_of(big.caller, lambda: forget_states(tenant_id=tenant, now=now, limit=100))
    assert "state_expires" in used
    assert "SEQ working_state" not in used
    with scope(tenant):
        assert not has_states_over(tenant_id=tenant, now=now)


def test_so_does_the_list_of_sessions(big):
    named = {"namespace": None, "user_id": None, "limit": 20, "offset": 0, "now": timezone.now()}
    used = indexes_of(big.caller, lambda: list_workspaces(caller=big.caller, **named))
    assert {"state_expires", "session_recent"} <= used
    assert "SEQ working_state" not in used
    _ids, total = list_workspaces(caller=big.caller, **named)
    assert total == ROWS - OVER
