"""Jobs that wait until nobody has asked for them for a while, but not for ever."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from tenants.jobs.queue import PATIENCE, enqueue
from tenants.models import Job
from tenants.scope import scope
from tests.jobs import work

QUIET = timedelta(seconds=30)
HOUR = timedelta(hours=1)


def ask(tenant, name, **options):
    return work.add(tenant, name, **{"dedup_key": "one", "quiet": QUIET} | options)


def change(tenant, **values):
    with scope(tenant.id):
        Job.objects.filter(tenant_id=tenant.id, state="queued").update(**values)


def make_older(tenant, job_id, by):
    """As if the job had been asked for the first time so long ago: its id says when."""
    moment = int((timezone.now() - by).timestamp() * 1000)
    older = UUID(int=(moment << 80) | (job_id.int & ((1 << 80) - 1)))
    with scope(tenant.id), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE tenants_job SET id = %s WHERE tenant_id = %s AND id = %s", [older, tenant.id, job_id]
        )
    return older


def test_it_waits_for_the_quiet(acme):
    job_id = ask(acme.tenant, work.kind())
    job = work.job(acme.tenant, job_id)
    assert job.run_at - job.created_at >= QUIET - timedelta(seconds=5)
    work.run()
    assert work.effects(acme.tenant) == []


def test_whoever_asks_again_has_it_wait_anew(acme):
    name = work.kind()
    job_id = ask(acme.tenant, name)
    change(acme.tenant, run_at=timezone.now() - HOUR)
    assert ask(acme.tenant, name) == job_id
    assert work.job(acme.tenant, job_id).run_at > timezone.now()
    work.run()
    assert work.effects(acme.tenant) == []
    work.make_due(acme.tenant)
    work.run()
    assert work.effects(acme.tenant) == [""]


def test_it_waits_no_longer_than_the_patience_after_it_was_asked_for_first(acme):
    name = work.kind()
    job_id = make_older(acme.tenant, ask(acme.tenant, name), (PATIENCE - 0.5) * QUIET)
    change(acme.tenant, run_at=timezone.now())
    assert ask(acme.tenant, name) == job_id
    left = work.job(acme.tenant, job_id).run_at - timezone.now()
    assert left < 0.6 * QUIET
    late = make_older(acme.tenant, job_id, PATIENCE * QUIET + HOUR)
    change(acme.tenant, run_at=timezone.now() - HOUR)
    assert ask(acme.tenant, name) == late
    work.run()
    assert work.effects(acme.tenant) == [""]


def test_one_that_is_put_off_for_longer_is_not_brought_forward(acme):
    name, later = work.kind(), timezone.now() + HOUR
    job_id = ask(acme.tenant, name)
    change(acme.tenant, run_at=later)
    assert ask(acme.tenant, name) == job_id
    assert work.job(acme.tenant, job_id).run_at == later


def test_its_cause_is_the_last_one(acme):
    """An erasure between the two does not take the later one's work away."""
    name = work.kind()
    job_id = ask(acme.tenant, name)
    first = work.job(acme.tenant, job_id).created_at
    ask(acme.tenant, name)
    assert work.job(acme.tenant, job_id).created_at > first


@pytest.mark.parametrize("other", [{"dedup_key": "two"}, {"dedup_key": None}])
def test_other_work_is_not_postponed(acme, other):
    name = work.kind()
    first = ask(acme.tenant, name)
    assert ask(acme.tenant, name, **other) != first


def test_while_it_runs_another_waits_for_its_own_quiet(acme):
    asked = []

    def apply(task, prepared):
        if not asked:
            asked.append(ask_inside())
        work.leave_effect(task)

    def ask_inside():
        return enqueue(name, payload={}, now=timezone.now(), dedup_key="one", quiet=QUIET)

    name = work.kind(apply)
    first = ask(acme.tenant, name)
    work.make_due(acme.tenant)
    work.run()
    assert asked[0] != first
    assert work.job(acme.tenant, asked[0]).state == "queued"
    assert work.effects(acme.tenant) == [""]
