import io
import json
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from episodic import retention
from episodic.retention import KIND, enqueue_retention
from episodic.tasks import retain
from memoryproject.celery import app
from tenants.jobs import runner
from tenants.models import Job, Tenant
from tenants.scope import scope
from tests.retention.old import remembered, texts, told, turns


def command(*args):
    out = io.StringIO()
    call_command("retention", *args, stdout=out)
    return out.getvalue()


def jobs(member):
    with scope(member.tenant.id):
        return list(Job.objects.filter(tenant_id=member.tenant.id, kind=KIND))


@pytest.fixture
def only(acme, globex, monkeypatch):
    """The two tenants are all there are."""
    mine = Tenant.objects.filter(id__in=[acme.tenant.id, globex.tenant.id])
    with patch.object(Tenant.objects, "order_by", mine.order_by):
        yield


def test_one_tenant_is_cleared_and_the_other_is_not(acme, globex):
    for member in (acme, globex):
        remembered(member, "old", 91)
    (report,) = json.loads(command("--tenant", acme.tenant.slug, "--json"))
    left = {"episodes": None, "events": None}
    assert report == {
        "tenant": acme.tenant.slug, "episodes": 1, "events": 0, "oldest_left": left, "dry_run": False,
    }  # fmt: skip
    assert (texts(acme), texts(globex)) == ([], ["old"])


def test_a_dry_run_says_what_would_go(acme):
    remembered(acme, "old", 91)
    line = command("--tenant", acme.tenant.slug, "--dry-run")
    assert line.startswith(f"{acme.tenant.slug}: 1 episodes, 0 events would go; oldest left: episodes 20")
    assert texts(acme) == ["old"]


def test_an_unknown_tenant_is_named():
    with pytest.raises(CommandError, match="nobody"):
        command("--tenant", "nobody")


def test_every_tenant_is_reported(acme, globex, only):
    remembered(globex, "old", 91)
    found = {one["tenant"]: one["episodes"] for one in json.loads(command("--json"))}
    assert found == {acme.tenant.slug: 0, globex.tenant.slug: 1}


def test_at_night_each_tenant_that_has_something_old_gets_one_job_with_its_report(acme, globex, only):
    remembered(acme, "old", 91)
    session = told(acme, "s", [40, 5], summarised=1)
    remembered(globex, "young", 10)
    assert [enqueue_retention(now=timezone.now()) for _ in range(2)] == [1, 1]
    assert [job.state for job in jobs(acme)] == ["queued"]
    assert jobs(globex) == []
    while runner.run_jobs(slow=True):
        pass
    (job,) = jobs(acme)
    assert (job.state, job.done) == ("done", 2)
    assert (texts(acme), turns(session)) == ([], [2])
    officer = acme.with_key(scopes=("read", "admin"))
    shown = officer.http.get(f"/api/v1/jobs/{job.id}").json()
    assert (shown["kind"], shown["state"]) == ("retention", "done")
    result = shown["result"]
    assert (result["tenant"], result["episodes"], result["events"]) == (acme.tenant.slug, 1, 1)
    assert enqueue_retention(now=timezone.now()) == 0


def test_the_clock_asks_for_it_every_night():
    entry = app.conf.beat_schedule["nightly-retention"]
    assert entry["task"] == retain.name
    assert entry["schedule"].hour == {4}
    assert retention.BATCH <= 5_000
