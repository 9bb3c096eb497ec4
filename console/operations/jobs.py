"""The work behind the memory: what waits, what runs, what has failed for good."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from console.cursors import SIZE, Rows
from console.operations.forms import JobsForm, page_after, picked
from console.pages import Page
from tenants.errors import Invalid
from tenants.jobs.dead_letters import count_dead, drop_dead, replay_dead
from tenants.jobs.queue import access_job, list_jobs, replay_job
from tenants.queue_figures import read_queue_of

RUNNING = 20  # of the running ones that are shown


def rows_by_id(request: HttpRequest, found: Sequence[Any]) -> Rows:
    """The page of `found`, of which one more than a page was asked for."""
    if len(found) <= SIZE:
        return Rows(found)
    query = request.GET.copy()
    query["after"] = str(found[SIZE - 1].id)
    return Rows(found[:SIZE], query.urlencode())


class JobsPage(Page):
    """`jobs`; with `?live=off` its head stays as it is"""

    section = "jobs"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        form = JobsForm(request.GET)
        if not form.is_valid():
            return self.show("operations/jobs", form=form, rows=Rows(()), status=422, **self.figures())
        given = form.cleaned_data
        found = list_jobs(
            caller=self.caller,
            limit=SIZE + 1,
            state=given["state"] or None,
            kind=given["kind"] or None,
            before=page_after(request.GET),
        )
        narrowed = any(given.values())
        rows = rows_by_id(request, found)
        return self.show("operations/jobs", form=form, rows=rows, narrowed=narrowed, **self.figures())

    def figures(self) -> dict[str, Any]:
        running = list_jobs(caller=self.caller, limit=RUNNING, state="running")
        queue = read_queue_of(tenant_id=self.caller.tenant_id)
        return {"queue": queue, "running": running, "is_live": self.request.GET.get("live") != "off"}


class JobsLivePart(JobsPage):
    """`jobs/live`: what changes at the head of that page."""

    is_part = True

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("operations/_live", **self.figures())


class JobPage(Page):
    """`jobs/<id>`"""

    section = "jobs"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        return self.show("operations/job", job=access_job(caller=self.caller, job_id=job_id))


class JobReplayPage(Page):
    """`jobs/<id>/replay`"""

    section = "jobs"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, job_id: UUID) -> HttpResponse:
        replay_job(caller=self.caller, job_id=job_id)
        self.say("Back in the queue, with all its attempts.")
        return self.to("job", job_id=job_id)


class DeadLettersPage(Page):
    """`dead-letters`"""

    section = "jobs"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_jobs(caller=self.caller, limit=SIZE + 1, state="failed", before=page_after(request.GET))
        kinds = count_dead(caller=self.caller)
        rows = rows_by_id(request, found)
        return self.show("operations/dead_letters", rows=rows, kinds=kinds, total=sum(kinds.values()))


class DeadLettersReplayPage(Page):
    """`dead-letters/replay`: what would be done again, and then doing it"""

    section = "jobs"
    scopes = {"GET": "admin", "POST": "admin"}
    deed = "replay"

    def get(self, request: HttpRequest) -> HttpResponse:
        if not request.GET.keys() & {"job", "which"}:
            messages.warning(request, "Tick those that are meant.")
            return self.to("dead-letters")
        ids = picked(request.GET)
        kinds = count_dead(caller=self.caller, job_ids=ids)
        total = sum(kinds.values())
        return self.show("operations/dead_letters_sure", kinds=kinds, total=total, ids=ids, deed=self.deed)

    def post(self, request: HttpRequest) -> HttpResponse:
        replayed = replay_dead(caller=self.caller, job_ids=picked(request.POST))
        self.say(f"Back in the queue: {replayed}.")
        return self.to("dead-letters")


class DeadLettersDropPage(DeadLettersReplayPage):
    """`dead-letters/drop`: likewise, of deleting them"""

    deed = "drop"

    def post(self, request: HttpRequest) -> HttpResponse:
        if request.POST.get("sure") != "yes":
            raise Invalid("Tick that you are sure.", "sure")
        dropped = drop_dead(caller=self.caller, job_ids=picked(request.POST))
        self.say(f"Dropped for good: {dropped}.")
        return self.to("dead-letters")
