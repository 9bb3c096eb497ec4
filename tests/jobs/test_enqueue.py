import pytest
from django.utils import timezone

from tenants.jobs.queue import enqueue
from tenants.models import Job
from tenants.scope import NoTenantScope, scope
from tests.jobs import work


class Undone(Exception):
    pass


def test_a_job_exists_exactly_when_what_causes_it_does(acme):
    name = work.kind()

    def fail_after_enqueueing():
        with scope(acme.tenant.id):
            enqueue(name, payload={}, now=timezone.now())
            raise Undone

    with pytest.raises(Undone):
        fail_after_enqueueing()
    with scope(acme.tenant.id):
        assert not Job.objects.filter(tenant_id=acme.tenant.id).exists()
    job_id = work.add(acme.tenant, name)
    assert work.job(acme.tenant, job_id).state == "queued"


def test_outside_a_scope_there_is_nothing_to_record_it_with():
    with pytest.raises(NoTenantScope):
        enqueue(work.kind(), payload={}, now=timezone.now())


def test_an_unknown_kind_is_refused_before_it_is_recorded(acme):
    with pytest.raises(LookupError), scope(acme.tenant.id):
        enqueue("test.unheard-of", payload={}, now=timezone.now())


def test_of_the_same_work_only_one_job_waits(acme):
    name = work.kind()
    first = work.add(acme.tenant, name, dedup_key="session-1")
    assert work.add(acme.tenant, name, dedup_key="session-1") == first
    assert work.add(acme.tenant, name, dedup_key="session-2") != first
    assert work.add(acme.tenant, work.kind(), dedup_key="session-1") != first


def test_what_comes_while_the_same_work_runs_waits_for_its_turn(acme):
    ran = []

    def apply(task, prepared):
        ran.append(work.add_inside(acme.tenant, name) if not ran else None)

    name = work.kind(apply)
    first = work.add(acme.tenant, name, dedup_key="one")
    work.run()
    assert ran[0] != first
    work.run()
    assert len(ran) == 2
