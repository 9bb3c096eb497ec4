"""One deed on many observations: what it would touch, then the deed, by a job if they are very many; and all
of them in a file."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.utils import timezone

from console.observations.forms import DEEDS, DeedForm, FilterForm, ids_of, moment_in
from console.pages import Page
from observations.bulk import MOST, Deed, Done, export_selected, foresee
from observations.bulk_jobs import AT_ONCE, change_or_begin, read_bulk, stop_bulk
from observations.models import Observation
from observations.types import Selection
from tenants.errors import Invalid

SAID = {
    "tag": "tagged", "untag": "untagged", "retype": "given another type", "trash": "moved to the trash",
    "restore": "restored",
}  # fmt: skip
NAMED = ("tag", "untag", "retype")  # deeds that need a word


class BulkPage(Page):
    """`observations/many`: the chosen ones, or all that the filter leaves."""

    section = "observations"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._ask(request.GET, DeedForm(initial=request.GET.dict()))

    def post(self, request: HttpRequest) -> HttpResponse:
        form, where = DeedForm(request.POST), _which(request.POST)
        if where is None or not form.is_valid():
            return self._ask(request.POST, form, status=422)
        is_stated = request.POST.get("as_of") and form.cleaned_data["stated"] is not None
        if request.POST.get("all") and not is_stated:
            raise Invalid("Look at what it touches first.", "stated")
        deed = cast(Deed, form.cleaned_data["deed"])
        try:
            done = change_or_begin(
                caller=self.caller, where=where, deed=deed, value=form.cleaned_data["value"],
                most=form.cleaned_data["stated"], now=timezone.now(),
            )  # fmt: skip
        except Invalid as error:
            form.add_error("value", str(error))
            return self._ask(request.POST, form, status=422)
        filters = FilterForm(request.POST).address()
        if isinstance(done, Done):
            self.say(_said(deed, done))
            return self.to("observations", query=filters)
        return self.to("observation-bulk-job", bulk_id=done, query=filters)

    def _ask(self, data: QueryDict, form: DeedForm, *, status: int = 200) -> HttpResponse:
        where = _which(data)
        reached = foresee(caller=self.caller, where=where) if where else None
        deed = data.get("deed", "") if data.get("deed") in dict(DEEDS) else ""
        return self.show(
            "observations/bulk",
            status=status,
            form=form,
            filters=FilterForm(data),
            where=where,
            reached=reached,
            most=MOST,
            is_long=reached is not None and reached.count > AT_ONCE,
            ids=ids_of(data),
            until=data.get("as_of") or timezone.now().isoformat(),
            is_all=bool(data.get("all")),
            deed=deed,
            deeds=DEEDS,
            title=dict(DEEDS).get(deed, "Change many observations"),
            is_named=deed in NAMED,
            value=data.get("value", ""),
        )


class BulkJobPage(Page):
    """`observations/many/<id>`: how far it is; POST stops it. The list's filter stands in the address."""

    section = "observations"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, bulk_id: UUID) -> HttpResponse:
        found = read_bulk(caller=self.caller, job_id=bulk_id)
        title = dict(DEEDS).get(found.deed, "Change many observations")
        can_stop = found.is_under_way and not found.is_stopped and found.job.done < (found.job.total or 0)
        return self.show(
            "observations/bulk_job",
            found=found, job=found.job, title=title, can_stop=can_stop, filters=self._filters(),
        )  # fmt: skip

    def post(self, request: HttpRequest, bulk_id: UUID) -> HttpResponse:
        filters = self._filters()
        if stop_bulk(caller=self.caller, job_id=bulk_id).is_under_way:
            self.say("It ends after the batch that it is at. What was changed stays so.")
        else:
            self.say("It had ended already: there was nothing left to stop.")
        return self.to("observation-bulk-job", bulk_id=bulk_id, query=filters)

    def _filters(self) -> str:
        form = FilterForm(self.request.GET)
        form.refuse_errors()
        return form.address()


class ExportPage(Page):
    """`observations/export`: the chosen ones, or all that the filter leaves, in a file that the importer of
    the AgentOps dialect takes."""

    section = "observations"
    is_part = True

    def get(self, request: HttpRequest) -> HttpResponseBase:
        form, ids = FilterForm(request.GET), ids_of(request.GET)
        if "deed" in request.GET and not ids:  # sent by the list's form, with nothing ticked
            raise Invalid("Nothing was selected.", "id")
        where = form.chosen(ids) if ids else form.selection()
        pages = export_selected(caller=self.caller, where=where)
        answer = StreamingHttpResponse(_document(pages), content_type="application/json; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="observations-{self.caller.tenant}.json"'
        return answer


def _document(pages: Iterator[list[Observation]]) -> Iterator[str]:
    """The file, piece by piece: it may be larger than what a process should hold."""
    now = timezone.now().isoformat(timespec="seconds")
    yield f'{{"exported_at": "{now}", "sessions": [], "observations": ['
    is_first = True
    for page in pages:
        rows = [json.dumps(_exported(one), ensure_ascii=False) for one in page]
        if rows:
            yield ("\n" if is_first else ",\n") + ",\n".join(rows)
            is_first = False
    yield "\n]}\n"


def _said(deed: Deed, done: Done) -> str:
    passed = f" {done.passed} no longer were what was chosen." if done.passed else ""
    return (
        f"{done.changed} {SAID[deed]}; {done.unchanged} were so already; {done.refused} could not be.{passed}"
    )


def _which(data: QueryDict) -> Selection | None:
    """The chosen ones; with `all`, those of the filter that had been made when the question was asked. None
    when nothing was chosen. Raises Invalid for a filter that cannot be meant."""
    form, ids, asked = FilterForm(data), ids_of(data), moment_in(data.get("as_of", ""), "as_of")
    where = form.selection()
    if not data.get("all"):
        return form.chosen(ids) if ids else None
    return where if asked is None else replace(where, until=min(asked, where.until or asked))


def _exported(one: Observation) -> dict[str, Any]:
    return {
        "id": one.id,
        "session_id": one.session,
        "type": one.type,
        "title": one.title,
        "content": one.content,
        "tags": one.tags,
        "project": one.project,
        "scope": one.scope,
        "topic_key": one.topic_key,
        "revision_count": one.revision_count,
        "duplicate_count": one.duplicate_count,
        "user_id": one.user_id,
        "agent_id": one.agent_id,
        "created_at": one.created_at.isoformat(timespec="seconds"),
        "updated_at": one.updated_at.isoformat(timespec="seconds"),
    }
