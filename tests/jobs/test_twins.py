"""Jobs with the same dedup key, where several workers and writers meet."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

from django.db import connections

from tenants import audit
from tenants.jobs import querysets
from tenants.jobs.kinds import RetryLater
from tenants.jobs.queue import replay_all
from tenants.models import AuditEntry, Job
from tenants.scope import scope
from tests.jobs import work

FIRST = UUID(int=0)


def claim_and_die(tenant, seconds=0.0):
    """As a worker that dies with all the jobs that are due."""
    tasks, last = [], FIRST
    while last:  # one claim goes through so many tenants only, and others' tests may have left jobs
        claimed = querysets.claim(lane="quick", after=last, limit=1_000, lease=uuid4(), seconds=seconds)
        tasks, last = tasks + claimed.tasks, claimed.last
    time.sleep(seconds + 0.01)
    return [task for task in tasks if task.tenant_id == tenant.id]


def states(tenant):
    with scope(tenant.id):
        return sorted(Job.objects.filter(tenant_id=tenant.id).values_list("state", flat=True))


def elsewhere(function, *args):
    """Runs it in another thread, with connections of its own."""

    def call():
        try:
            return function(*args)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(30)


def test_work_that_is_asked_for_again_runs_after_the_commit_that_asks(acme):
    ran = []
    name = work.kind(lambda task, prepared: ran.append(task.id))
    first = work.add(acme.tenant, name, dedup_key="one")
    with scope(acme.tenant.id):
        assert work.add_inside(acme.tenant, name) == first
        elsewhere(work.run)
        assert ran == []  # it would not see what this transaction has written
    work.run()
    assert ran == [first]


def test_of_twins_that_dead_workers_left_one_is_done_again(acme):
    name = work.kind()
    for n in (1, 2):
        work.add(acme.tenant, name, payload={"n": n}, dedup_key="one")
        assert len(claim_and_die(acme.tenant)) == 1
    assert states(acme.tenant) == ["running", "running"]
    querysets.release_expired()
    assert states(acme.tenant) == ["queued"]
    work.run()
    assert work.effects(acme.tenant) == ["2"]


def test_what_a_dead_worker_left_is_dropped_when_a_twin_waits(acme):
    name = work.kind()
    work.add(acme.tenant, name, payload={"n": 1}, dedup_key="one")
    claim_and_die(acme.tenant)
    work.add(acme.tenant, name, payload={"n": 2}, dedup_key="one")
    querysets.release_expired()
    assert states(acme.tenant) == ["queued"]
    work.run()
    assert work.effects(acme.tenant) == ["2"]


def test_a_twin_without_attempts_left_does_not_take_the_other_along(acme):
    name, tired = work.kind(), work.kind(attempts=1)
    for n, kind in ((1, name), (2, tired)):
        work.add(acme.tenant, kind, payload={"n": n}, dedup_key="one")
        claim_and_die(acme.tenant)
    with scope(acme.tenant.id):
        Job.objects.filter(tenant_id=acme.tenant.id).update(kind=name)
    querysets.release_expired()
    assert states(acme.tenant) == ["failed", "queued"]


def test_what_fails_while_a_twin_is_being_queued_leaves_one_of_them(acme):
    """The twin is not visible yet when the failure is recorded: the database refuses a second one."""

    def apply(task, prepared):
        if not queued.is_set():
            queued.set()
            writer.submit(queue_slowly)
            begun.wait(10)
            raise ValueError("fails")
        work.leave_effect(task)

    def queue_slowly():
        with scope(acme.tenant.id):
            work.add_inside(acme.tenant, name)
            begun.set()
            time.sleep(0.5)
        connections.close_all()

    queued, begun, writer = threading.Event(), threading.Event(), ThreadPoolExecutor(1)
    name = work.kind(apply)
    work.add(acme.tenant, name, payload={"n": 1}, dedup_key="one")
    work.run()
    writer.shutdown()
    work.run()
    assert states(acme.tenant) == []
    assert work.effects(acme.tenant) == [""]


def test_a_locked_job_holds_up_no_other_that_a_dead_worker_left(acme):
    """A worker that froze while it finished holds the lock on its job."""
    held, left = (work.add(acme.tenant, work.kind()) for _n in range(2))
    claim_and_die(acme.tenant)
    with scope(acme.tenant.id):
        Job.objects.select_for_update().get(tenant_id=acme.tenant.id, id=held)
        start = time.monotonic()
        elsewhere(querysets.release_expired)
        assert time.monotonic() - start < 5
    assert (work.job(acme.tenant, held).state, work.job(acme.tenant, left).state) == ("running", "queued")


def test_under_a_storm_of_twins_no_write_is_missed_and_nothing_fails(acme):
    """Writers, workers, workers that die and people who replay, all over one dedup key. The last run has to
    see every write."""

    def apply(task, prepared):
        if task.attempts % 5 == 4:
            raise ValueError("now and then")
        seen = AuditEntry.objects.filter(tenant_id=acme.tenant.id, action="cause").count()
        audit.record(tenant_id=acme.tenant.id, actor="job", action=work.EFFECT, target=f"{seen:05}")

    def write():
        with scope(acme.tenant.id):
            audit.record(tenant_id=acme.tenant.id, actor="test", action="cause")
            work.add_inside(acme.tenant, name)
        written.append(True)

    def repeat(function, *args):
        try:
            while not over.is_set():
                function(*args)
        finally:
            connections.close_all()

    name, over, written = work.kind(apply, attempts=4), threading.Event(), []
    with ThreadPoolExecutor(7) as pool:
        parts = [
            pool.submit(repeat, *part)
            for part in [(write,), (write,), (work.run,), (work.run,), (claim_and_die, acme.tenant),
                         (querysets_release,), (replay, acme.tenant)]
        ]  # fmt: skip
        begun = time.monotonic()
        while time.monotonic() < begun + (3 if len(written) > 50 else 60):
            time.sleep(0.05)
        over.set()
        for part in parts:
            part.result(30)
    assert len(written) > 50
    deadline = time.monotonic() + 30
    while states(acme.tenant) and time.monotonic() < deadline:
        replay(acme.tenant)
        work.make_due(acme.tenant)
        work.run()
    assert states(acme.tenant) == []
    assert max(work.effects(acme.tenant)) == f"{len(written):05}"


def querysets_release():
    from django.db import IntegrityError

    try:
        querysets.release_expired()
    except IntegrityError:
        return  # as the runner does


def replay(tenant):
    replay_all(tenant_id=tenant.id, actor="test")


def test_a_job_that_somebody_may_ask_for_is_never_dropped_for_a_twin(acme):
    name = work.kind(keep=True)
    first = work.add(acme.tenant, name, payload={"n": 1}, dedup_key="one")
    claim_and_die(acme.tenant)
    second = work.add(acme.tenant, name, payload={"n": 2}, dedup_key="one")
    querysets.release_expired()
    work.run()
    assert [work.job(acme.tenant, one).state for one in (first, second)] == ["done", "done"]


def test_a_kept_job_that_fails_beside_a_twin_is_tried_again(acme):
    def prepare(task):
        if task.id == first and task.attempts == 1:
            work.add(acme.tenant, name, dedup_key="one")
            raise RetryLater("not yet")

    name = work.kind(lambda task, prepared: None, prepare=prepare, slow=True, keep=True)
    first = work.add(acme.tenant, name, dedup_key="one")
    work.run(slow=True)
    work.make_due(acme.tenant)
    work.run(slow=True)
    assert work.job(acme.tenant, first).state == "done"
