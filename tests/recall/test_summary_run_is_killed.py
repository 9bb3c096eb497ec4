"""A worker that is killed in the middle of a summary view: the next one goes on where it was."""

import time

from django.utils import timezone

from episodic.models import Episode, SummaryPartition
from episodic.summary_views import NewView, create_view
from recall.summary_views import access_task, run_view
from tenants.jobs import querysets
from tenants.scope import scope
from tests.jobs.killing import kill_a_worker
from tests.privacy.people import run_jobs

GROUPS = 40


def test_a_run_that_is_killed_goes_on_where_it_was(acme):
    caller, now = acme.caller, timezone.now()
    people = [f"user {number}" for number in range(GROUPS)]
    with scope(acme.tenant.id):
        Episode.objects.bulk_create(
            Episode(tenant_id=acme.tenant.id, user_id=one, text=f"About {one}.", created_at=now)
            for one in people
        )
    view = create_view(caller=caller, new=NewView(group_by=("user_id",)), now=now)
    run_jobs()  # what other tests have left
    task = run_view(caller=caller, view_id=str(view.id), force=True, task_id="mine", now=now)
    kill_a_worker(task.job, at=GROUPS // 4, module="tests.recall.killed")
    before = made(acme, view)
    assert 0 < len(before) < GROUPS
    assert access_task(caller=caller, task_id="mine").job.state == "running"
    time.sleep(3.2)  # its lease
    querysets.release_expired()
    run_jobs()
    found = access_task(caller=caller, task_id="mine")
    assert (found.job.state, found.job.done, found.job.total) == ("done", GROUPS, GROUPS)
    assert found.job.result == {"groups": GROUPS, "made": GROUPS - len(before)}
    after = made(acme, view)
    assert len(after) == GROUPS
    assert before.items() <= after.items()


def made(member, view):
    """The summaries there are, by user."""
    with scope(member.tenant.id):
        return dict(SummaryPartition.objects.filter(view_id=view.id).values_list("user_id", "id"))
