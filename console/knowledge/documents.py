"""Documents: a list, a search with the words marked, one in its passages, taking in, deleting."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import NO_PLACE, number_in
from console.knowledge.forms import DocumentsForm, NewForm
from console.pages import Page, add_error
from knowledge.documents import access_document, delete_document, list_chunks, list_documents
from knowledge.ingesting import add_document
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter
from lexical.passages import mark_words
from tenants.errors import Invalid, TooLarge

SIZE = 30
FOUND = 20


class DocumentsPage(Page):
    """`documents`"""

    section = "documents"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = DocumentsForm(request.GET)
        form.is_valid()
        said = {name: form.cleaned_data.get(name) or None for name in form.fields}
        if said["q"]:
            return self._found(form, said["q"], said["project"], said["user"])
        found = list_documents(
            caller=self.caller, limit=SIZE + 1, project=said["project"], user_id=said["user"],
            before=_behind(request.GET.get("before", "")),
        )  # fmt: skip
        shown, more = found[:SIZE], ""
        if len(found) > SIZE:
            last = shown[-1].document
            kept = {name: value for name, value in said.items() if value}
            more = urlencode(kept | {"before": f"{last.updated_at.isoformat()},{last.id}"})
        is_part = getattr(request, "htmx", False) and "before" in request.GET
        name = "knowledge/_documents" if is_part else "knowledge/documents"
        return self.show(name, form=form, documents=shown, more=more, may_ingest=self.caller.may("ingest"))

    def _found(self, form: DocumentsForm, text: str, project: str | None, user: str | None) -> HttpResponse:
        where = ChunkFilter(project=project, user_id=user)
        hits = search_chunks(caller=self.caller, query=text, top_k=FOUND, where=where)
        marked = [(hit, mark_words(hit.chunk.text, text)) for hit in hits]
        return self.show(
            "knowledge/documents", form=form, hits=marked, query=text, may_ingest=self.caller.may("ingest")
        )


class DocumentPage(Page):
    """`documents/<id>`"""

    section = "documents"

    def get(self, request: HttpRequest, document_id: UUID) -> HttpResponse:
        after = number_in(request.GET.get("after", ""), field="after")
        chunks = list_chunks(
            caller=self.caller, document_id=document_id, limit=SIZE + 1, after=-1 if after is None else after
        )
        context: dict[str, Any] = {
            "chunks": chunks[:SIZE],
            "more": str(chunks[SIZE - 1].position) if len(chunks) > SIZE else "",
            "document_id": document_id,
        }
        if getattr(request, "htmx", False) and after is not None:
            return self.show("knowledge/_chunks", **context)
        shown = access_document(caller=self.caller, document_id=document_id)
        return self.show(
            "knowledge/document", shown=shown, one=shown.document, may_ingest=self.caller.may("ingest"),
            **context,
        )  # fmt: skip


class NewPage(Page):
    """`documents/new`"""

    section = "documents"
    scopes = {"GET": "ingest", "POST": "ingest"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._form(NewForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._form(form, status=422)
        try:
            done = add_document(caller=self.caller, new=form.new(), now=timezone.now())
        except Invalid as error:
            add_error(form, error)
            return self._form(form, status=422)
        except TooLarge as error:
            form.add_error("file" if request.FILES else "text", str(error))
            return self._form(form, status=413)
        self.say(
            {
                "created": "Taken in. It is found by its words now, and by its meaning in a moment.",
                "replaced": "It has replaced what this source said before.",
                "updated": "The text is known; its title is new.",
                "unchanged": "Nothing new: this document is here already.",
            }[done.action]
        )
        return self.to("document", document_id=done.shown.document.id)

    def _form(self, form: NewForm, *, status: int = 200) -> HttpResponse:
        return self.show(
            "knowledge/new", form=form, most_bytes=settings.DOCUMENT_MAX_BYTES,
            most_pages=settings.DOCUMENT_MAX_PAGES, status=status,
        )  # fmt: skip


class DeletePage(Page):
    """`documents/<id>/delete`"""

    section = "documents"
    scopes = {"GET": "ingest", "POST": "ingest"}

    def get(self, request: HttpRequest, document_id: UUID) -> HttpResponse:
        shown = access_document(caller=self.caller, document_id=document_id)
        return self.show("knowledge/delete", one=shown.document)

    def post(self, request: HttpRequest, document_id: UUID) -> HttpResponse:
        delete_document(caller=self.caller, document_id=document_id)
        self.say("Deleted, with all its passages.")
        return self.to("documents")


def _behind(text: str) -> tuple[datetime, UUID] | None:
    """Where the list goes on. Raises Invalid for what no link of ours says."""
    if not text:
        return None
    moment, _, name = text.partition(",")
    try:
        at, document_id = datetime.fromisoformat(moment), UUID(name)
    except ValueError as error:
        raise Invalid(NO_PLACE, "before") from error
    if at.tzinfo is None:
        raise Invalid(NO_PLACE, "before")
    return at, document_id
