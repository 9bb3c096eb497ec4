"""Everything at once: taking a copy of it, having it erased, having it left alone."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from console.me.forms import EraseForm
from console.me.pages import PersonPage, forgetting, remembering
from recall.subjects.people import summary_of
from tenants.caller import Caller
from tenants.jobs.queue import list_jobs
from tenants.models import JobState
from tenants.person_links import renewed, revoke_links
from tenants.privacy import export
from tenants.privacy.erasure import list_receipts, request_erasure
from tenants.privacy.links import link_to
from tenants.restrictions import lift_restriction, may_lift, restrict_subject

RECEIPTS, EXPORTS = 50, 10
WAITING = {JobState.QUEUED, JobState.RUNNING}


@dataclass(frozen=True, slots=True)
class Copy:
    """An export that the person asked for; `link` when it can be downloaded, until `until`."""

    asked_at: datetime
    state: str
    link: str
    until: datetime | None


def exports_of(caller: Caller) -> list[Copy]:
    """The newest copies that were asked for by this link or token."""
    copies = []
    for job in list_jobs(caller=caller, kind=export.KIND, limit=EXPORTS):
        link = link_to(job, caller=caller, now=timezone.now())
        path, until = (f"/api/v1/exports/{link.token}", link.expires_at) if link else ("", None)
        copies.append(Copy(job.created_at, job.state, path, until))
    return copies


class RightsPage(PersonPage):
    """`/me/rights`"""

    section = "rights"
    scopes = {"GET": "privacy"}

    def get(self, request: HttpRequest) -> HttpResponse:
        exports = exports_of(self.caller)
        summary = summary_of(caller=self.caller, user_id=self.user_id)
        frozen = summary.restriction
        return self.show(
            "rights",
            summary=summary,
            may_lift=frozen is not None and may_lift(caller=self.caller, restriction=frozen),
            exports=exports,
            is_waiting=any(one.state in WAITING for one in exports),
            receipts=list_receipts(caller=self.caller, user_id=self.user_id, limit=RECEIPTS),
        )


class ExportPage(PersonPage):
    """`/me/export`"""

    scopes = {"POST": "privacy"}

    def post(self, request: HttpRequest) -> HttpResponse:
        export.request_export(caller=self.caller, user_id=self.user_id, now=timezone.now())
        self.say("Your copy is being made. It can be downloaded here when it is ready.")
        return self.to("me-rights")


class ErasePage(PersonPage):
    """`/me/erase`"""

    section = "rights"
    scopes = {"GET": "privacy", "POST": "privacy"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._shown(EraseForm())

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = EraseForm(request.POST)
        if not form.is_valid():
            return self._shown(form, status=422)
        request_erasure(caller=self.caller, user_id=self.user_id, now=timezone.now())
        self.say("Everything is being erased. The receipt will stand below.")
        response = self.to("me-rights")
        if "HTTP_AUTHORIZATION" in request.META:
            return response
        return remembering(response, renewed(self.visit))  # of the voided ones, who asked goes on alone

    def _shown(self, form: EraseForm, status: int = 200) -> HttpResponse:
        summary = summary_of(caller=self.caller, user_id=self.user_id)
        return self.show("erase", summary=summary, form=form, status=status)


class SignOutPage(PersonPage):
    """`/me/sign-out`: of every browser, this one too."""

    scopes = {"POST": "privacy"}

    def post(self, request: HttpRequest) -> HttpResponse:
        revoke_links(caller=self.caller, user_id=self.user_id)
        return forgetting(render(request, "console/me/left.html", {"is_everywhere": True}))


class RestrictPage(PersonPage):
    """`/me/restrict`"""

    scopes = {"POST": "privacy"}

    def post(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        if "lift" in request.POST:
            lift_restriction(caller=self.caller, user_id=self.user_id, now=now)
            self.say("Your memory is in use again.")
        else:
            restrict_subject(
                caller=self.caller, user_id=self.user_id, reason="asked for by the person", now=now
            )
            self.say("Your memory is kept, and used by nobody until you say so.")
        return self.to("me-rights")
