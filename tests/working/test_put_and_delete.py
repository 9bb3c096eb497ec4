"""A session that some write while others delete it."""

import time
from concurrent.futures import ThreadPoolExecutor

from django.db import connection, connections
from django.utils import timezone

from recall.sessions import delete_exactly
from tenants.scope import scope
from tests.working.conversation import S
from tests.working.workspaces import ids, put, said, seen
from working import workspace_queries
from working.models import Event, Session
from working.querysets import open_session
from working.sessions import exact_ref

ROUNDS, WRITERS = 25, 4


def test_writers_and_deleters_meet_without_failing(caller):
    def run(number: int) -> None:
        try:
            for turn in range(ROUNDS):
                if (number + turn) % 2:
                    delete_exactly(caller=caller, address=S, now=timezone.now())
                else:
                    put(caller, *said(f"{number}-{turn}"), data={"by": number})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(run, range(WRITERS)))
    put(caller, *said("last"))
    assert "last" in ids(seen(caller))
    with scope(caller.tenant_id):
        numbers = list(Event.objects.filter(tenant_id=caller.tenant_id).values_list("session_id", "seq"))
    assert len(numbers) == len(set(numbers))


def test_what_was_begun_anew_while_its_lock_was_awaited_is_not_taken_for_locked(caller):
    put(caller, *said("a"))
    ref = exact_ref(caller, S)
    with ThreadPoolExecutor(1) as pool:
        with scope(caller.tenant_id):
            before = workspace_queries.find_locked(ref)
            waits = pool.submit(locked, ref)
            wait_until_the_lock_is_awaited()
            Session.objects.filter(tenant_id=caller.tenant_id, id=before.session.id).delete()
            open_session(ref=ref, agent_id="", project="", metadata={}, now=timezone.now(), is_whole=True)
        assert waits.result(60) is None
    assert workspace_queries.find(ref) is not None


def locked(ref):
    try:
        with scope(ref.tenant_id):
            return workspace_queries.find_locked(ref)
    finally:
        connections.close_all()


def wait_until_the_lock_is_awaited():
    """In the transaction that holds it."""
    until = time.monotonic() + 60
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"
                " AND transactionid = pg_current_xact_id()::xid)"
            )
            if cursor.fetchone()[0]:
                return
            time.sleep(0.01)
    raise TimeoutError
