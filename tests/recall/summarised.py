"""Making and reading summaries, as a client and its server would."""

import json

from django.utils import timezone

from episodic.records import save_records
from episodic.summary_partitions import list_partitions
from episodic.summary_views import NewView, create_view
from episodic.types import NewRecord
from recall.partitions import run_partition
from recall.summary_views import access_task, run_view
from tenants.models import Job
from tenants.scope import scope
from tests.privacy.people import run_jobs


def save(caller, name, text, user="ana", **more):
    record = NewRecord(id=name, text=text, user_id=user, **more)
    save_records(caller=caller, records=[record], deduplicate=False, now=timezone.now())


def view_of(caller, *group_by, **more):
    return create_view(caller=caller, new=NewView(group_by=group_by, **more), now=timezone.now())


def make(caller, view, **group):
    return run_partition(caller=caller, view_id=str(view.id), group=group, now=timezone.now())


def run(caller, view, *, force=False):
    now = timezone.now()
    task = run_view(caller=caller, view_id=str(view.id), force=force, task_id=None, now=now)
    run_jobs()
    return task.run.task_id


def shown(caller, view, **where):
    return list_partitions(caller=caller, view_id=str(view.id), where=where)


def state(caller, task_id):
    return access_task(caller=caller, task_id=task_id).job.state


def due_at_once(caller):
    with scope(caller.tenant_id):
        Job.objects.filter(tenant_id=caller.tenant_id).update(run_at=timezone.now())


def says(llm, summary):
    llm.control(says=json.dumps({"summary": summary}))


def asked(llm):
    return [one["body"]["messages"][1]["content"] for one in llm.requests]


def fill(caller):
    """Two records of Ana's and one of Bob's."""
    save(caller, "tea", "Ana prefers green tea.")
    save(caller, "oslo", "Ana decided to move to Oslo.", namespace="office")
    save(caller, "rain", "Bob hates the rain.", "bob")
    return caller
