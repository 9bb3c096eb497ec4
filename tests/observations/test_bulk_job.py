"""One deed on very many: what is meant is fixed when it is asked for, and a worker that is killed costs
nothing but time."""

import subprocess
import sys
import time

import pytest
from django.utils import timezone

from observations import bulk, bulk_jobs
from observations.bulk import Done
from observations.bulk_jobs import BULK, change_or_begin, packed, read_bulk, stop_bulk, unpacked
from observations.models import ObservationRevision
from observations.types import Selection
from tenants.audit import list_entries
from tenants.errors import Forbidden, Invalid, NotFound
from tenants.jobs import kinds, querysets
from tenants.models import Job, Restriction
from tenants.scope import scope
from tenants.tombstones import bury
from tests.jobs import work
from tests.observations.notes import delete, edit, fill, listed, note, revisions, search, stored
from tests.processes import ROOT


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def seven(acme, monkeypatch):
    """Seven observations, of which two are changed by each commit, and more than two by a job."""
    monkeypatch.setattr(bulk, "TOGETHER", 2)
    monkeypatch.setattr(bulk_jobs, "AT_ONCE", 2)
    for n in range(7):
        note(acme.caller, f"Say {n}.", type="bugfix" if n % 2 else "decision", user_id="ann" if n > 4 else "")
    return acme.caller


def begin(caller, deed="tag", value="q3", most=None, **where):
    return change_or_begin(
        caller=caller, where=Selection(**where), deed=deed, value=value, most=most, now=timezone.now()
    )


def tagged(caller, tag="q3"):
    return sum(tag in one.tags for one in stored(caller))


def finish(caller, job_id):
    """By a worker of this process."""
    while work.run(slow=True):  # others' jobs may come first
        pass
    return read_bulk(caller=caller, job_id=job_id)


def told(caller):
    entries = list_entries(caller=caller, limit=50)
    return [(one.action, one.details) for one in reversed(entries) if "bulk" in one.action]


def test_few_are_changed_at_once_and_many_by_a_job(acme, seven):
    assert begin(seven, most=2) == Done(changed=2)
    assert begin(seven, most=0) == Done()
    job_id = begin(seven)
    assert tagged(seven) == 2
    asked = read_bulk(caller=seven, job_id=job_id)
    assert (asked.deed, asked.is_under_way, asked.job.done, asked.job.total) == ("tag", True, 0, 7)
    done = finish(seven, job_id)
    assert (done.done, done.is_under_way, done.job.done) == (Done(changed=5, unchanged=2), False, 7)
    assert tagged(seven) == 7
    assert work.job(acme.tenant, job_id).payload == {"deed": "tag"}, "what was chosen is kept no longer"


def test_the_audit_log_tells_once_how_many_and_that_it_was_begun(seven):
    job_id = begin(seven, most=3)
    finish(seven, job_id)
    assert told(seven) == [
        ("observation.bulk_begin", {"asked": "tag", "stated": 3}),
        ("observation.bulk_tag", {"count": 3, "stated": 3}),
    ]


@pytest.mark.parametrize("dies_in", ["change_batch", "conclude"])
def test_a_worker_that_is_killed_is_followed_by_another_that_goes_on(acme, seven, monkeypatch, dies_in):
    """After two batches, and a half; or before the end was recorded. No revision is kept twice."""
    calls = []

    def dying(*args, **named):
        calls.append(args)
        done = real(*args, **named)
        if len(calls) == (3 if dies_in == "change_batch" else 1):
            raise Killed
        return done

    if dies_in == "change_batch":
        real = bulk_jobs.change_batch
        monkeypatch.setattr(bulk_jobs, "change_batch", dying)
    else:
        real = kinds.kind_of(BULK).apply
        monkeypatch.setitem(
            kinds._kinds, BULK, kinds.Kind(BULK, dying, kinds.kind_of(BULK).prepare, slow=True, keep=True)
        )
    job_id = begin(seven)
    with pytest.raises(Killed):
        work.run(slow=True)
    assert read_bulk(caller=seven, job_id=job_id).job.done == (4 if dies_in == "change_batch" else 7)
    with scope(seven.tenant_id):
        Job.objects.filter(tenant_id=seven.tenant_id, id=job_id).update(lease_until=timezone.now())
    querysets.release_expired()
    assert finish(seven, job_id).done == Done(changed=7)
    assert [len(revisions(seven, one.id)) for one in stored(seven)] == [1] * 7
    assert [name for name, _details in told(seven)].count("observation.bulk_tag") == 1


def test_a_process_that_is_killed_in_a_batch_leaves_it_to_the_next(acme):
    fill(acme.caller, [f"Say {n}." for n in range(bulk_jobs.AT_ONCE + 100)])
    job_id = begin(acme.caller)
    worker = subprocess.Popen([sys.executable, "-m", "tests.observations.killed"], cwd=ROOT)
    try:
        wait_for(lambda: worker.poll() is not None or work.job(acme.tenant, job_id).done >= 30)
        assert worker.poll() is None, "it was too quick"
    finally:
        worker.kill()
        worker.wait()
    wait_for(lambda: tagged(acme.caller) == work.job(acme.tenant, job_id).done)  # its last commit
    assert work.job(acme.tenant, job_id).state == "running"
    with scope(acme.tenant.id):
        Job.objects.filter(id=job_id).update(lease_until=timezone.now())
    querysets.release_expired()
    assert finish(acme.caller, job_id).done == Done(changed=bulk_jobs.AT_ONCE + 100)
    with scope(acme.tenant.id):
        assert ObservationRevision.objects.filter(number=1).count() == bulk_jobs.AT_ONCE + 100
        assert not ObservationRevision.objects.filter(number__gt=1).exists()


def wait_for(is_so):
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_worker_that_has_lost_the_job_changes_nothing_more(acme, seven, monkeypatch):
    real = bulk_jobs.change_batch

    def overtaken(*args, **named):
        done = real(*args, **named)
        Job.objects.filter(tenant_id=seven.tenant_id, id=job_id).update(lease=job_id)
        return done

    monkeypatch.setattr(bulk_jobs, "change_batch", overtaken)
    job_id = begin(seven)
    work.run(slow=True)
    assert (tagged(seven), read_bulk(caller=seven, job_id=job_id).job.done) == (0, 0)


def test_never_more_than_were_stated_and_none_that_came_since(seven):
    job_id = begin(seven, "retype", "pitfall", type="decision")
    note(seven, "Late.", type="decision")
    edit(seven, stored(seven, type="bugfix")[0].id, type="decision")
    assert finish(seven, job_id).done == Done(changed=4)
    assert len(stored(seven, type="decision")) == 2


def test_what_no_longer_is_as_it_was_chosen_is_passed_by(seven):
    ids = [one.id for one in stored(seven, type="decision")]
    job_id = begin(seven, type="decision")
    edit(seven, ids[0], type="config")
    delete(seven, ids[1])
    assert finish(seven, job_id).done == Done(changed=2, passed=2)
    assert tagged(seven) == 2


@pytest.mark.parametrize("how", ["erased", "restricted"])
def test_people_who_were_erased_or_restricted_meanwhile_are_passed_by(seven, how):
    job_id = begin(seven, "trash")
    with scope(seven.tenant_id):
        named = {"tenant_id": seven.tenant_id, "user_id": "ann", "requested_by": "test"}
        if how == "erased":
            bury(**named, now=timezone.now())
        else:
            Restriction.objects.create(**named, since=timezone.now())
    assert finish(seven, job_id).done == Done(changed=5, passed=2)


def test_one_that_names_a_person_goes_with_them(acme, seven, monkeypatch):
    monkeypatch.setattr(bulk_jobs, "AT_ONCE", 1)
    job_id = begin(seven, user_id="ann")
    with scope(seven.tenant_id):
        bury(tenant_id=seven.tenant_id, user_id="ann", requested_by="test", now=timezone.now())
    assert work.job(acme.tenant, job_id) is None


def test_it_ends_after_the_batch_that_it_is_at_when_it_is_stopped(seven, monkeypatch):
    job_id = begin(seven, "trash")
    real = bulk_jobs.change_batch

    def stopping(*args, **named):
        done = real(*args, **named)
        Job.objects.filter(id=job_id).update(payload=Job.objects.get(id=job_id).payload | {"stop": True})
        return done

    monkeypatch.setattr(bulk_jobs, "change_batch", stopping)
    done = finish(seven, job_id)
    assert (done.done, done.is_stopped, done.job.state) == (Done(changed=2), True, "done")
    assert len(listed(seven)) == 5
    assert told(seven)[-1][1] == {"count": 2, "stated": 7, "stop": True}


def test_one_that_waits_is_stopped_before_it_begins(seven):
    job_id = begin(seven, "trash")
    assert stop_bulk(caller=seven, job_id=job_id).is_stopped
    stop_bulk(caller=seven, job_id=job_id)
    assert finish(seven, job_id).done == Done()
    stop_bulk(caller=seven, job_id=job_id)
    assert [name for name, _details in told(seven)] == [
        "observation.bulk_begin", "observation.bulk_stop", "observation.bulk_trash",
    ]  # fmt: skip


def test_what_is_done_by_a_job_is_found_and_found_no_more_at_once(seven):
    finish(seven, begin(seven, "trash"))
    assert search(seven, "say") == []
    finish(seven, begin(seven, "restore", trashed=True))
    assert len(search(seven, "say", mode="all")) == 7


def test_others_neither_begin_nor_see_nor_stop_it(acme, globex, seven):
    bound = acme.with_key(project="orders").caller
    with pytest.raises(Forbidden):
        begin(bound)
    job_id = begin(seven)
    for caller in (globex.caller, bound, acme.with_key(scopes=("read",)).caller):
        with pytest.raises(NotFound):
            stop_bulk(caller=caller, job_id=job_id)
    other = work.add(acme.tenant, work.kind(slow=True), requested_by=seven.principal)
    with pytest.raises(NotFound):
        read_bulk(caller=seven, job_id=other)
    assert not read_bulk(caller=seven, job_id=job_id).is_stopped


@pytest.mark.parametrize(("deed", "value"), [("tag", " "), ("retype", "x" * 51)])
def test_what_cannot_be_done_is_said_before_it_begins(seven, deed, value):
    with pytest.raises(Invalid):
        begin(seven, deed, value)
    assert told(seven) == []


def test_a_search_means_those_with_every_word_now_and_when_their_turn_comes(seven):
    note(seven, "Hush.")
    job_id = begin(seven, text="say")
    assert read_bulk(caller=seven, job_id=job_id).job.total == 7
    edit(seven, stored(seven)[0].id, content="Hush, too.")
    note(seven, "Say more.")
    assert finish(seven, job_id).done == Done(changed=6, passed=1)


@pytest.mark.parametrize("ids", [[], [5], [900, 7, 8, 20]])
def test_ids_are_the_same_when_they_are_unpacked(ids):
    assert list(unpacked(packed(ids))) == sorted(ids)
