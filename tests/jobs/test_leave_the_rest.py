"""What a worker does with the other jobs when one is bad, or when it is told to end."""

from django.db import connection

from tenants.jobs import querysets, runner
from tenants.models import Job
from tenants.scope import scope
from tests.jobs import work


class Died(BaseException):
    """The process ends here."""


def test_a_job_that_ends_every_worker_does_not_take_the_others_along(acme, globex):
    """Those that were claimed with it lose an attempt each time, yet are done before they have none left."""

    def apply(task, prepared):
        if task.payload["n"] == "killer":
            raise Died
        work.leave_effect(task)

    name = work.kind(apply, attempts=30)
    for n in range(10):
        work.add(acme.tenant, name, payload={"n": n})
        work.add(globex.tenant, name, payload={"n": n})
    killer = work.add(acme.tenant, name, payload={"n": "killer"})
    for _death in range(30):
        try:
            work.run()
        except Died:
            expire(acme, globex)
            querysets.release_expired()
    assert work.job(acme.tenant, killer).state == "failed"
    for member in (acme, globex):
        assert sorted(work.effects(member.tenant)) == sorted(map(str, range(10)))


def test_what_postgresql_refuses_to_one_job_is_that_jobs_failure(acme):
    """An operational error that is no sign of the server being away."""

    def apply(task, prepared):
        if task.payload["n"] == "too much":
            with connection.cursor() as cursor:
                cursor.execute("SELECT repeat('x', 2000000000)")
        work.leave_effect(task)

    name = work.kind(apply)
    for n in (1, "too much", 2):
        work.add(acme.tenant, name, payload={"n": n})
    work.run()
    assert sorted(work.effects(acme.tenant)) == ["1", "2"]
    with scope(acme.tenant.id):
        [left] = Job.objects.filter(tenant_id=acme.tenant.id)
    assert (left.payload["n"], left.state) == ("too much", "queued")
    assert "OperationalError" in left.error


def test_a_worker_that_ends_begins_nothing_new(acme):
    work.add(acme.tenant, work.kind(), payload={"n": 1})
    runner.ending.set()
    try:
        assert work.run() == 0
    finally:
        runner.ending.clear()
    assert work.effects(acme.tenant) == []
    work.run()
    assert work.effects(acme.tenant) == ["1"]


def expire(*members):
    for member in members:
        with scope(member.tenant.id):
            running = Job.objects.filter(tenant_id=member.tenant.id, state="running")
            running.update(lease_until="2020-01-01T00:00Z")
