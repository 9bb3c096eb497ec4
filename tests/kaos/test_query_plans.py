"""Which index serves what KAOS's memory asks, seen as the app role with row-level security in force."""

from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from tenants.scope import scope
from tests.conftest import make_member
from tests.plans import indexes_of
from working import bounded_memory, bounded_queries
from working.bounded_memory import BoundedMemory
from working.bounded_queries import Bound, Narrow
from working.models import Session

ROWS = 20_000
CODER = Bound("a1", 100, 50)
# Row n of 20,000: one of 20 agents and 200 users, used n seconds ago; the memory knows one of ten. Written at
# once, which the ORM does not do.
COPY_SESSIONS = """
INSERT INTO working_session (id, tenant_id, namespace, user_id, external_id, agent_id, project, metadata,
                             started_at, opened_at, last_activity_at, last_seq, turn_count, summarised_seq,
                             summary, let_go_seq, let_go_at)
SELECT gen_random_uuid(), %(tenant)s, '', 'u' || n %% 200, 's' || n, 'a' || n %% 20, '', '{}',
       now() - n * interval '1 second', now(), now() - n * interval '1 second', 2, 0, 0,
       '', CASE WHEN n %% 200 < 20 THEN 0 ELSE 2 END, CASE WHEN n %% 200 < 20 THEN NULL ELSE now() END
FROM generate_series(1, %(rows)s) n
"""
COPY_EVENTS = """
INSERT INTO chat_events (id, tenant_id, session_id, seq, event_type, role, content, metadata, created_at,
                         recorded_at)
SELECT gen_random_uuid(), tenant_id, id, seq, 'note', '', to_jsonb(external_id), '{}', now(), now()
FROM working_session CROSS JOIN generate_series(1, 2) seq WHERE tenant_id = %(tenant)s
"""


@pytest.fixture(scope="module")
def caller(server):
    member = make_member("acme", server)
    params = {"tenant": member.tenant.id, "rows": ROWS}
    with connections["owner"].cursor() as cursor:
        cursor.execute(COPY_SESSIONS, params)
        cursor.execute(COPY_EVENTS, params)
        cursor.execute("ANALYZE working_session, chat_events")
    return member.caller


def test_the_agents_are_found_one_by_one(caller):
    found = []
    assert indexes_of(caller, lambda: found.append(bounded_queries.agents_in(caller))) == {
        "session_known_to_kaos"
    }
    assert len(found[0]) == 20


@pytest.mark.parametrize("agent", ["a1", ""])
def test_lists_and_figures_read_what_the_memory_knows_alone(caller, agent):
    memory = BoundedMemory(caller, agent)
    ids = indexes_of(caller, lambda: bounded_memory.session_ids(memory=memory, narrow=Narrow()))
    assert (read_whole(ids), "session_known_to_kaos" in ids) == (set(), True)
    events = indexes_of(caller, lambda: bounded_memory.newest_events(memory=memory, narrow=Narrow(), limit=9))
    assert (read_whole(events), {"session_known_to_kaos", "event_seq"} <= events) == (set(), True)
    figures = indexes_of(caller, lambda: bounded_memory.memory_figures(memory=memory, narrow=Narrow()))
    assert (read_whole(figures), "session_known_to_kaos" in figures) == (set(), True)


def test_a_session_and_its_namesakes_are_found_by_their_id(caller):
    def run():
        for agent in ("a1", ""):
            bounded_queries.lock_namesakes(caller=caller, agent_id=agent, session_id="s1")
            list(
                bounded_queries.sessions_named(
                    caller=caller, agent_id=agent, session_id="s1", narrow=Narrow()
                )
            )

    assert indexes_of(caller, run) == {"session_identity"}


def test_room_is_made_by_the_index_and_as_much_as_is_told(caller):
    now = timezone.now()
    used = indexes_of(caller, lambda: bounded_queries.make_room(caller=caller, bound=CODER, now=now))
    assert (read_whole(used), "session_known_to_kaos" in used) == (set(), True)
    assert let_go_at(caller, now) == 10
    before, later = now - timedelta(seconds=ROWS - 1_000), now + timedelta(seconds=1)
    cleaned = indexes_of(
        caller,
        lambda: bounded_queries.let_old_go(caller=caller, agents=["a2"], before=before, now=later),
    )
    assert (read_whole(cleaned), "session_known_to_kaos" in cleaned) == (set(), True)
    assert let_go_at(caller, later) == 5


def read_whole(used):
    """Which of the tables that grow are read as a whole."""
    return used & {"SEQ working_session", "SEQ chat_events"}


def let_go_at(caller, moment):
    with scope(caller.tenant_id):
        return Session.objects.filter(tenant_id=caller.tenant_id, let_go_at=moment).count()
