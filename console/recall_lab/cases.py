"""Saved queries: kept from the lab, run as tests, deleted; and why a memory was not found."""

from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.pages import Page, missing
from console.recall_lab.forms import KIND_NAMES, SaveForm, WhyForm, passed_on
from console.recall_lab.views import Asked
from ledger.cases import NewQuery, QueryFilter, access_query, delete_query, list_queries
from recall.absence import find_in_ranking
from recall.case_runs import run_queries
from recall.kinds import Kind
from recall.saving_queries import save_query
from tenants.errors import Invalid

PAGE = 50
NOTHING_TICKED = "Tick what this query should find: without that it could never fail, so it is not saved."


class SavePage(Page):
    """`/console/<tenant>/recall/save`"""

    section = "recall"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest) -> HttpResponse:
        form = SaveForm(request.POST)
        if not form.is_valid():
            raise Invalid("Ask something first, then save it.", "q")
        given = form.cleaned_data
        if not given["relevant"]:
            asked = Asked(self, request.POST)
            return self.show("recall_lab/lab", status=422, refused=NOTHING_TICKED, **asked.shown())
        new = NewQuery(
            text=given["q"],
            user_id=given["user"],
            agent_id=given["agent"],
            session=given["session"],
            relevant=tuple(given["relevant"]),
        )
        kept = save_query(caller=self.caller, new=new, now=timezone.now())
        run_queries(caller=self.caller, now=timezone.now(), query_id=kept.id)
        self.say("Saved as a regression query.")
        return self.to("recall-queries")


class QueriesPage(Page):
    """`/console/<tenant>/recall/queries`"""

    section = "recall"
    scopes = {"GET": "read", "POST": "write"}

    def get(self, request: HttpRequest) -> HttpResponse:
        before = self._before(request.GET.get("before"))
        found = list_queries(caller=self.caller, where=QueryFilter(), limit=PAGE + 1, before=before)
        template = "_queries" if getattr(request, "htmx", False) and before else "queries"
        more = found[PAGE - 1].id if len(found) > PAGE else None
        return self.show(f"recall_lab/{template}", queries=found[:PAGE], more=more)

    def post(self, request: HttpRequest) -> HttpResponse:
        runs = run_queries(caller=self.caller, now=timezone.now(), query_id=_id_of(request.POST.get("query")))
        failed = sum(not run.has_passed for run in runs)
        self.say(f"{len(runs)} run: {len(runs) - failed} passed, {failed} failed.")
        return self.to("recall-queries")

    def _before(self, named: str | None) -> tuple[datetime, UUID] | None:
        if not named:
            return None
        last = access_query(caller=self.caller, query_id=_id_of(named) or UUID(int=0))
        return last.created_at, last.id


class DeletePage(Page):
    """`/console/<tenant>/recall/queries/<id>/delete`"""

    section = "recall"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, query_id: UUID) -> HttpResponse:
        query = access_query(caller=self.caller, query_id=query_id)
        return self.show("recall_lab/delete", query=query)

    def post(self, request: HttpRequest, query_id: UUID) -> HttpResponse:
        delete_query(caller=self.caller, query_id=query_id)
        self.say("The saved query is deleted.")
        return self.to("recall-queries")


class WhyPage(Page):
    """`/console/<tenant>/recall/why`: why was this memory not found?"""

    section = "recall"

    def get(self, request: HttpRequest) -> HttpResponse:
        asked, named = Asked(self, request.GET), request.GET.get("memory", "").strip()
        kind = request.GET.get("kind") or "episode"
        context: dict[str, Any] = {
            "asked": asked.data,
            "passed": passed_on(asked.data),
            "address_query": asked.data.urlencode(),
            "named": named,
            "kind": kind,
            "kind_names": KIND_NAMES,
        }
        if not named or not asked.data.get("q", "").strip():
            return self.show("recall_lab/why", **context)
        if not asked.is_valid():
            return self.show("recall_lab/why", hint=asked.wrong(), **context)
        if not WhyForm({"kind": kind, "memory": named}).is_valid():
            raise missing("memory")
        found = find_in_ranking(
            caller=self.caller,
            query=asked.query(),
            memory_id=named,
            kind=cast(Kind, kind),
            kinds=asked.form.asked_kinds(),
            now=timezone.now(),
        )
        return self.show("recall_lab/why", found=found, **context)


def _id_of(text: str | None) -> UUID | None:
    """None for nothing. Raises NotFound for what can be no id."""
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise missing("memory") from error
