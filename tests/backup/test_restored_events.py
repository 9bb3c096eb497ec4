"""Ids of transactions mean nothing to another server: what comes back has those of the restore."""

from django.db import connections

from tenants.scope import scope
from tests.backup.places import backup, restore
from tests.streaming.server import settle
from working.live import EVERYTHING, read_on
from working.live_types import Position
from working.models import Event


def test_events_of_a_server_that_was_far_ahead_are_told_here(tenant, file):
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "UPDATE chat_events SET recorded_in = '9000000000000' WHERE tenant_id = %s", [tenant.id]
        )
    before = read_on(tenant_id=tenant.id, wanted=EVERYTHING, after=Position(0))
    assert before.events == []
    backup(file, tenant)
    restore(file, tenant)
    settle()
    after = read_on(tenant_id=tenant.id, wanted=EVERYTHING, after=before.position)
    with scope(tenant.id):
        logged = Event.objects.filter(tenant_id=tenant.id, withdrawn_at=None).count()
    assert len(after.events) == logged > 0
    by_session: dict = {}
    for one in after.events:
        by_session.setdefault(one.event.session_id, []).append(one.event.seq)
    assert all(numbers == sorted(numbers) for numbers in by_session.values())
