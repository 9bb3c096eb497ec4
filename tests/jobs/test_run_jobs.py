import time
from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from tenants.jobs import querysets
from tenants.jobs.kinds import GiveUp, RetryLater
from tenants.models import Job
from tenants.scope import scope
from tests.jobs import work


def test_a_job_is_done_once_and_leaves_no_row(acme):
    job_id = work.add(acme.tenant, work.kind(), payload={"n": 1})
    assert work.run() >= 1
    assert work.effects(acme.tenant) == ["1"]
    assert work.job(acme.tenant, job_id) is None
    work.run()
    assert work.effects(acme.tenant) == ["1"]


def test_a_kept_job_shows_its_result(acme):
    name = work.kind(
        lambda task, prepared: {"answer": prepared}, prepare=lambda task: 42, slow=True, keep=True
    )
    job_id = work.add(acme.tenant, name)
    assert work.run(slow=False) == 0 or work.job(acme.tenant, job_id).state == "queued"
    work.run(slow=True)
    done = work.job(acme.tenant, job_id)
    assert (done.state, done.result, done.lease) == ("done", {"answer": 42}, None)
    assert done.finished_at is not None


def test_the_effect_and_the_end_of_a_job_are_one_commit(acme):
    def apply(task, prepared):
        work.leave_effect(task)
        raise ValueError("after the effect")

    job_id = work.add(acme.tenant, work.kind(apply))
    work.run()
    assert work.effects(acme.tenant) == []
    failed = work.job(acme.tenant, job_id)
    assert (failed.state, failed.attempts, failed.error) == ("queued", 1, "ValueError")
    assert failed.run_at > timezone.now()


def test_a_bad_job_harms_none_that_were_claimed_with_it(acme):
    def apply(task, prepared):
        if task.payload["n"] == 3:
            raise ValueError("bad")
        work.leave_effect(task)

    name = work.kind(apply)
    for n in range(6):
        work.add(acme.tenant, name, payload={"n": n})
    work.run()
    assert sorted(work.effects(acme.tenant)) == ["0", "1", "2", "4", "5"]


def test_what_fails_again_and_again_becomes_a_dead_letter_with_its_payload(acme):
    def apply(task, prepared):
        raise ValueError("never works")

    job_id = work.add(acme.tenant, work.kind(apply, attempts=3), payload={"n": 7})
    for _attempt in range(3):
        assert work.job(acme.tenant, job_id).state == "queued"
        work.make_due(acme.tenant)
        work.run()
    dead = work.job(acme.tenant, job_id)
    assert (dead.state, dead.attempts, dead.payload) == ("failed", 3, {"n": 7})
    assert dead.error == "ValueError"


def test_what_cannot_succeed_is_not_tried_again(acme):
    def apply(task, prepared):
        raise GiveUp("off schema")

    job_id = work.add(acme.tenant, work.kind(apply))
    work.run()
    assert work.job(acme.tenant, job_id).state == "failed"


def test_a_job_waits_as_long_as_the_provider_asks(acme):
    def apply(task, prepared):
        raise RetryLater("rate limit", after=600)

    job_id = work.add(acme.tenant, work.kind(apply))
    work.run()
    assert work.job(acme.tenant, job_id).run_at > timezone.now() + timedelta(seconds=590)


def test_a_job_is_not_run_before_its_time(acme):
    work.add(acme.tenant, work.kind(), run_at=timezone.now() + timedelta(minutes=1))
    work.run()
    assert work.effects(acme.tenant) == []


def test_a_kind_that_this_version_does_not_know_is_left_to_a_later_one(acme):
    job_id = work.add(acme.tenant, work.kind())
    with scope(acme.tenant.id):
        Job.objects.filter(tenant_id=acme.tenant.id, id=job_id).update(kind="test.of-tomorrow")
    work.run()
    assert work.job(acme.tenant, job_id).state == "queued"


def test_many_jobs_of_one_tenant_do_not_hold_up_anothers(acme, globex):
    order = []
    name = work.kind(lambda task, prepared: order.append(task.tenant_id))
    for _n in range(450):
        work.add(acme.tenant, name)
    for _n in range(3):
        work.add(globex.tenant, name)
    work.run()
    assert len(order) == 453
    assert max(place for place, tenant in enumerate(order) if tenant == globex.tenant.id) < 250


def test_a_worker_that_lost_its_lease_changes_nothing(acme):
    def prepare(task):
        with scope(acme.tenant.id):  # as if it had frozen, and another had taken over
            Job.objects.filter(tenant_id=acme.tenant.id, id=task.id).update(lease=uuid4())

    job_id = work.add(acme.tenant, work.kind(prepare=prepare, slow=True))
    assert work.run(slow=True) == 0
    assert work.effects(acme.tenant) == []
    assert work.job(acme.tenant, job_id).state == "running"


def test_the_jobs_of_a_dead_worker_are_done_by_another(acme):
    job_id = work.add(acme.tenant, work.kind(), payload={"n": 1})
    claimed = _claim_as_a_worker_that_dies(60)
    assert job_id in {task.id for task in claimed}
    work.run()
    assert work.effects(acme.tenant) == []
    with scope(acme.tenant.id):
        Job.objects.filter(tenant_id=acme.tenant.id, id=job_id).update(lease_until="2020-01-01T00:00Z")
    work.run()
    assert work.effects(acme.tenant) == ["1"]


def test_a_job_that_kills_every_worker_becomes_a_dead_letter(acme):
    job_id = work.add(acme.tenant, work.kind(attempts=2))
    for _attempt in range(2):
        _claim_as_a_worker_that_dies(0.0)
        time.sleep(0.01)
        querysets.release_expired()
    dead = work.job(acme.tenant, job_id)
    assert (dead.state, dead.error) == ("failed", "The worker died or froze while it ran.")


def test_the_lease_of_a_long_job_is_renewed(acme, settings):
    settings.JOB_LEASE_SECONDS = 1
    seen = []

    def prepare(task):
        time.sleep(1.8)
        seen.append(querysets.release_expired())

    work.add(acme.tenant, work.kind(prepare=prepare, slow=True), payload={"n": 1})
    work.run(slow=True)
    assert work.effects(acme.tenant) == ["1"]


def _claim_as_a_worker_that_dies(seconds):
    found, after = [], querysets.UUID(int=0)
    while True:
        claimed = querysets.claim(lane="quick", after=after, limit=10, lease=uuid4(), seconds=seconds)
        found += claimed.tasks
        if not claimed.tasks:
            if claimed.last is None:
                return found
            after = claimed.last


def test_the_urgent_do_not_wait_behind_the_slow(acme):
    order = []

    def apply(task, prepared):
        order.append(task.payload["n"])

    slow, urgent = work.kind(apply, slow=True), work.kind(apply, slow=True, urgent=True)
    for n in range(3):
        work.add(acme.tenant, slow, payload={"n": n})
    work.add(acme.tenant, urgent, payload={"n": "urgent"})
    work.run(slow=True)
    assert order == ["urgent", 0, 1, 2]


def test_a_job_that_hangs_loses_its_lease_in_the_end(acme, settings, monkeypatch):
    settings.JOB_LEASE_SECONDS = 1
    monkeypatch.setattr("tenants.jobs.leases.LONGEST", 0.0)
    released = []

    def prepare(task):
        time.sleep(1.2)
        released.append(querysets.release_expired())

    work.add(acme.tenant, work.kind(prepare=prepare, slow=True), payload={"n": 1})
    work.run(slow=True)
    assert released[0] >= 1


def test_the_reason_of_a_failure_quotes_nobody(acme):
    def apply(task, prepared):
        int("my password is sesame")

    job_id = work.add(acme.tenant, work.kind(apply))
    work.run()
    assert work.job(acme.tenant, job_id).error == "ValueError"
