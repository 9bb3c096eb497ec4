"""A tenant's figures in one look."""

from datetime import timedelta

import pytest
from django.utils import timezone

from recall import growth
from recall.overview import DAYS, read_overview
from tenants.errors import Forbidden
from tests.console.overviewed import live_a_month
from tests.console.remembered import episode, slot, talk, turn
from tests.observations.notes import note


def test_what_was_written_is_counted_by_day_and_kind(acme, globex):
    episode(acme.caller, "It rained.", user_id="ann")
    slot(acme.caller, "Brest")
    note(acme.caller, "It rains in Brest.")
    talk(acme.caller, turn("user", "Hello"))
    now = timezone.now()
    found = read_overview(caller=acme.caller, now=now)
    assert len(found.memories) == DAYS
    assert dict(found.memories[-1].counts) == {"episode": 1, "entity": 1, "observation": 1}
    assert found.active_sessions == 2  # that of the note, too
    assert found.events[0].role == "user"
    other = read_overview(caller=globex.caller, now=now)
    assert (other.kept, other.active_sessions, other.events) == (0, 0, [])


def test_a_month_adds_up(acme):
    live_a_month(acme.tenant.id)
    found = read_overview(caller=acme.caller, now=timezone.now())
    assert found.kept == sum(1 + day * 7 % 11 + day * 5 % 7 for day in range(30))
    assert (found.not_written, found.held) == (39, 1)
    assert found.refused[0].reason == "blocklist"
    assert 0.5 < found.helpful_rate < 1
    assert found.queue.failed == 1
    assert found.cost_micros == 4_802
    assert sum(1 for one in found.recalls if one.count) == 47


def test_the_days_before_today_are_counted_once_in_a_while(acme):
    now = timezone.now()
    growth.memories_by_day(tenant_id=acme.tenant.id, now=now, days=3)
    live_a_month(acme.tenant.id)
    days = growth.memories_by_day(tenant_id=acme.tenant.id, now=now, days=3)
    assert [day.total > 0 for day in days] == [False, False, True]
    growth._known.clear()
    days = growth.memories_by_day(tenant_id=acme.tenant.id, now=now, days=3)
    assert all(day.total for day in days)


def test_tomorrow_what_was_today_is_counted_anew(acme):
    now = timezone.now()
    growth.memories_by_day(tenant_id=acme.tenant.id, now=now, days=2)
    episode(acme.caller, "It rained.", user_id="ann")
    days = growth.memories_by_day(tenant_id=acme.tenant.id, now=now + timedelta(days=1), days=2)
    assert days[0].total == 1


def test_a_bound_key_learns_no_figures_of_the_whole(acme):
    with pytest.raises(Forbidden):
        read_overview(caller=acme.with_key(user_id="ann").caller, now=timezone.now())
