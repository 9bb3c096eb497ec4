import io
import os
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from tenants.jobs import queue
from tenants.jobs.kinds import GiveUp
from tenants.models import AuditEntry
from tenants.scope import scope
from tests.jobs import work


def jobs(member, *args):
    out = io.StringIO()
    call_command("jobs", member.tenant.slug, *args, stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture
def hopeless():
    """The name of a kind whose jobs fail for good until `mended` is set."""

    def apply(task, prepared):
        if not apply.mended:
            raise GiveUp("off schema")
        work.leave_effect(task)

    apply.mended = False
    name = work.kind(apply)
    yield name, apply
    apply.mended = True


def replays(member):
    with scope(member.tenant.id):
        found = AuditEntry.objects.filter(tenant_id=member.tenant.id, action="job.replay")
        return [(entry.actor, entry.details) for entry in found]


def test_it_lists_the_tenants_jobs_newest_first_and_no_others(acme, globex):
    name = work.kind()
    first, second = (work.add(acme.tenant, name) for _n in range(2))
    work.add(globex.tenant, name)
    lines = jobs(acme).splitlines()
    assert [line.split()[0] for line in lines] == [str(second), str(first)]
    assert lines[0].split()[3:] == ["queued", "0/12", name]
    assert jobs(acme, "--limit", "1").splitlines() == lines[:1]


def test_it_lists_one_state_or_kind(acme, hopeless):
    name, _apply = hopeless
    dead = work.add(acme.tenant, name)
    work.run()
    waiting = work.add(acme.tenant, work.kind(), run_at=timezone.now() + timedelta(hours=1))
    [line] = jobs(acme, "--state", "failed").splitlines()
    assert line.startswith(str(dead))
    assert line.endswith(f"failed    1/12  {name}  off schema")
    assert str(waiting) not in jobs(acme, "--kind", name)


def test_a_failed_job_is_put_back_with_all_its_attempts_and_the_log_tells(acme, hopeless):
    name, apply = hopeless
    job_id, other = (work.add(acme.tenant, name, payload={"n": n}) for n in (1, 2))
    work.run()
    apply.mended = True
    assert jobs(acme, "--replay", str(job_id)) == "1 jobs are back in the queue.\n"
    assert work.job(acme.tenant, job_id).attempts == 0
    work.run()
    assert work.effects(acme.tenant) == ["1"]
    assert work.job(acme.tenant, other).state == "failed"
    assert replays(acme) == [("command:jobs", {"kinds": {name: 1}})]


def test_all_failed_jobs_of_a_kind_are_put_back_in_short_transactions(acme, hopeless, monkeypatch):
    monkeypatch.setattr(queue, "TOGETHER", 2)
    name, apply = hopeless
    for n in range(5):
        work.add(acme.tenant, name, payload={"n": n})
    other = work.add(acme.tenant, work.kind(work.fail_for_good))
    work.run()
    apply.mended = True
    assert jobs(acme, "--replay", "all", "--kind", name) == "5 jobs are back in the queue.\n"
    work.run()
    assert sorted(work.effects(acme.tenant)) == ["0", "1", "2", "3", "4"]
    assert work.job(acme.tenant, other).state == "failed"
    assert sum(details["kinds"][name] for _actor, details in replays(acme)) == 5


def test_what_cannot_be_replayed_is_said(acme):
    queued = work.add(acme.tenant, work.kind())
    for job_id in (queued, uuid4()):
        with pytest.raises(CommandError, match="There is no failed job"):
            jobs(acme, "--replay", str(job_id))
    for args, said in (
        (["--replay", "x"], "takes a job's id"),
        (["--replay", "all", "--state", "failed"], "leave --state out"),
        (["--limit", "0"], "at least 1"),
    ):
        with pytest.raises(CommandError, match=said):
            jobs(acme, *args)
    with pytest.raises(CommandError, match="no tenant 'nobody'"):
        call_command("jobs", "nobody")


def test_whoever_reads_no_further_ends_the_list_quietly(acme):
    """As `| head -1` does, or a pager that is left."""
    for _n in range(2):
        work.add(acme.tenant, work.kind())
    reading, writing = os.pipe()
    os.close(reading)
    said = io.StringIO()
    with os.fdopen(writing, "w") as out:
        call_command("jobs", acme.tenant.slug, stdout=out, stderr=said)
    assert said.getvalue() == ""
