"""Jobs that are done in order: of one person, one after the other, whoever does them."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import BoundedSemaphore, Event
from uuid import UUID, uuid4

import pytest
from django.db import connections
from django.utils import timezone

from tenants.jobs import querysets, runner
from tenants.jobs.kinds import Kind, RetryLater, register
from tenants.jobs.queue import replay_all
from tenants.models import Job
from tenants.scope import scope
from tests.jobs.work import add, effects, fail_for_good, job, kind, leave_effect, make_due, run


def ordered(prepare=None):
    return kind(prepare=prepare, slow=True, in_order=True)


def add_named(member, name, *numbers, user_id="ann"):
    return [add(member.tenant, name, payload={"n": n}, user_id=user_id) for n in numbers]


def make_late(member, job_id):
    with scope(member.tenant.id):
        Job.objects.filter(id=job_id).update(run_at=timezone.now() + timedelta(hours=1))


def run_all():
    while run(slow=True):
        pass


def drain(workers=3):
    """Several workers at once, as long as there is something to do."""

    def one(_number):
        try:
            run_all()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, range(workers)))


@pytest.fixture
def places(monkeypatch):
    """Several slow jobs at once in this process."""
    monkeypatch.setattr(runner, "_slow_places", BoundedSemaphore(4))


def test_the_youngest_waits_for_the_oldest_though_that_is_not_due(acme):
    first, second = add_named(acme, ordered(), "a", "b")
    make_late(acme, first)
    assert run(slow=True) == 0
    assert job(acme.tenant, second).attempts == 0
    make_due(acme.tenant)
    run_all()
    assert effects(acme.tenant) == ["a", "b"]


def test_others_are_not_kept_waiting(acme, globex):
    """Another person's, those of another kind, of another tenant, and those of kinds without an order."""
    name, free = ordered(), kind(slow=True)
    first, *_rest = add_named(acme, name, "a", "b")
    make_late(acme, first)
    add_named(acme, name, "c", user_id="bob")
    add_named(acme, ordered(), "d")
    add_named(globex, name, "e")
    early, _late = add_named(acme, free, "f", "g")
    make_late(acme, early)
    run_all()
    assert sorted(effects(acme.tenant)) == ["c", "d", "g"]
    assert effects(globex.tenant) == ["e"]


def test_while_one_runs_the_next_is_not_begun(acme, places):
    begun, go_on = Event(), Event()

    def slowly(task):
        if task.payload["n"] == "a":
            begun.set()
            assert go_on.wait(10)

    _first, second = add_named(acme, ordered(slowly), "a", "b")
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(drain, 1)
        assert begun.wait(10)
        assert run(slow=True) == 0
        assert (job(acme.tenant, second).state, job(acme.tenant, second).attempts) == ("queued", 0)
        go_on.set()
        other.result(10)
    assert effects(acme.tenant) == ["a", "b"]


def test_many_workers_keep_to_the_order(acme, places):
    names = [f"{n:02}" for n in range(20)]
    uneven = ordered(lambda task: time.sleep(0.002 if task.payload["n"][-1] in "13579" else 0))
    add_named(acme, uneven, *names)
    add_named(acme, uneven, *(f"b{name}" for name in names), user_id="bob")
    drain(4)
    done = effects(acme.tenant)
    assert [name for name in done if not name.startswith("b")] == names
    assert [name for name in done if name.startswith("b")] == [f"b{name}" for name in names]


def test_one_that_fails_is_tried_again_before_the_next(acme):
    failed = []

    def at_first(task):
        if task.payload["n"] == "a" and not failed:
            failed.append(task.id)
            raise RetryLater("away")

    add_named(acme, ordered(at_first), "a", "b")
    run_all()
    assert (effects(acme.tenant), len(failed)) == ([], 1)
    make_due(acme.tenant)
    run_all()
    assert effects(acme.tenant) == ["a", "b"]


def test_a_dead_letter_holds_up_nobody_and_comes_late_when_it_is_replayed(acme):
    mended = []

    def never(task):
        if task.payload["n"] == "a" and not mended:
            fail_for_good(task)

    first, _second = add_named(acme, ordered(never), "a", "b")
    run_all()
    assert (job(acme.tenant, first).state, effects(acme.tenant)) == ("failed", ["b"])
    mended.append(True)
    assert replay_all(tenant_id=acme.tenant.id, actor="test", job_ids=[first]) == 1
    run_all()
    assert effects(acme.tenant) == ["b", "a"]


def test_one_whose_worker_died_goes_before_the_next(acme):
    first, _second = add_named(acme, ordered(), "a", "b")
    claimed = querysets.claim(lane="slow", after=UUID(int=0), limit=1, lease=uuid4(), seconds=-1)
    assert [task.id for task in claimed.tasks] == [first]
    run_all()  # releases it, too
    assert effects(acme.tenant) == ["a", "b"]


def test_what_is_quick_has_no_order():
    with pytest.raises(ValueError, match="in order is slow"):
        register(Kind("test.quick", leave_effect, in_order=True))
