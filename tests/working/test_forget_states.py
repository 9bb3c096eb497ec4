"""What clients have kept with sessions goes some night after its hold is over."""

from datetime import timedelta

from django.utils import timezone

from episodic.retention import enqueue_retention, expire_memory
from tenants.scope import scope
from tests.retention.old import ago, expire
from tests.working.conversation import S, logged
from tests.working.workspaces import ids, put, read, said, seen, stored_state
from working.models import Event
from working.types import SessionAddress

RECORD = {"id": "r", "text": "Ann likes tea.", "persisted_at": "2026-01-01T00:00:00+00:00"}
WAITING = {"id": "w", "text": "Ann likes coffee."}


def test_only_what_is_over_is_emptied(acme):
    caller = acme.caller
    put(caller, *said("a"), data={"x": 1}, memories=(RECORD,), ttl_seconds=60)
    put(caller, *said("a"), data={"x": 1}, address=SessionAddress("kept"))
    now = timezone.now() + timedelta(seconds=61)
    assert enqueue_retention(now=now, tenants=[caller.tenant_id]) == 1
    expire(acme, now=now)
    state = stored_state(caller)
    assert (state.data, state.memories, state.stamps) == (None, [], [])
    assert stored_state(caller, SessionAddress("kept")).data == {"x": 1}
    assert enqueue_retention(now=now, tenants=[caller.tenant_id]) == 0


def test_what_waits_to_be_remembered_keeps_all_of_its_session(acme, settings):
    caller = acme.caller
    put(caller, data={"x": 1}, memories=(RECORD, WAITING), ttl_seconds=60)
    now = timezone.now() + timedelta(seconds=61)
    assert enqueue_retention(now=now, tenants=[caller.tenant_id]) == 0
    expire(acme, now=now)
    assert [one["id"] for one in stored_state(caller).memories] == ["r", "w"]
    settings.LONG_TERM_MEMORY = False
    expire(acme, now=now)
    assert stored_state(caller).memories == []


def test_it_stays_over_and_begins_anew_when_it_is_sent(acme):
    caller = acme.caller
    put(caller, *said("a"), data={"x": 1}, ttl_seconds=60)
    now = timezone.now() + timedelta(seconds=61)
    expire(acme, now=now)
    assert read(caller, later=61) is None
    put(caller, *said("b"), data={"y": 1}, now=now)
    found = seen(caller)
    assert (ids(found), found.data) == (["b"], {"y": 1})


def test_a_trial_changes_nothing(acme):
    put(acme.caller, data={"x": 1}, ttl_seconds=0)
    named = {"tenant_id": acme.tenant.id, "tenant": acme.tenant.slug, "actor": "test"}
    expire_memory(**named, now=timezone.now(), dry_run=True)
    assert stored_state(acme.caller).data == {"x": 1}


def test_messages_that_were_left_out_go_with_the_log(acme):
    caller = acme.caller
    put(caller, *said("a", "b", "c"))
    put(caller, *said("a", "c"))
    with scope(caller.tenant_id):
        Event.objects.filter(tenant_id=caller.tenant_id).update(recorded_at=ago(40))
    expire(acme)
    assert [one.external_id for one in logged(caller, S)] == ["a", "c"]
