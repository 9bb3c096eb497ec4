"""Writes that were refused or held back, and what becomes of them."""

from datetime import timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, Rows, position_of, rows_of
from console.ledger.forms import DecisionsForm
from console.pages import Page
from ledger.decisions import access_decision, list_decisions
from ledger.tallies import decisions_by_reason
from recall.confirming import confirm_decision, reject_decision

DAYS = 30  # that are counted


class DecisionsPage(Page):
    """`decisions`"""

    section = "decisions"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = DecisionsForm(request.GET)
        if not form.is_valid():
            return self.show("ledger/decisions", form=form, rows=Rows(()), status=422)
        found = list_decisions(
            caller=self.caller, where=form.where(), limit=SIZE + 1, before=position_of(request)
        )
        since = timezone.now() - timedelta(days=DAYS)
        reasons = decisions_by_reason(tenant_id=self.caller.tenant_id, since=since)
        return self.show(
            "ledger/decisions",
            form=form,
            rows=rows_of(request, found, moment=lambda one: one.created_at),
            reasons=reasons,
            most=max((one.count for one in reasons), default=0),
            narrowed=any(form.cleaned_data.values()),
        )


class DecisionPage(Page):
    """`decisions/<id>`"""

    section = "decisions"

    def get(self, request: HttpRequest, decision_id: UUID) -> HttpResponse:
        one = access_decision(caller=self.caller, decision_id=decision_id)
        is_open = one.held is not None and one.outcome in ("held", "skipped")
        return self.show("ledger/decision", one=one, is_open=is_open)


class ConfirmPage(Page):
    """`decisions/<id>/confirm`"""

    section = "decisions"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, decision_id: UUID) -> HttpResponse:
        confirm_decision(caller=self.caller, decision_id=decision_id, now=timezone.now())
        self.say("Confirmed: it is written now.")
        return self.to("decision", decision_id=decision_id)


class RejectPage(Page):
    """`decisions/<id>/reject`"""

    section = "decisions"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, decision_id: UUID) -> HttpResponse:
        reject_decision(caller=self.caller, decision_id=decision_id, now=timezone.now())
        self.say("Rejected: what was kept of it is gone.")
        return self.to("decision", decision_id=decision_id)
