"""What a person said and was told, and the documents that are kept for them."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from console.cursors import SIZE, position_of, rows_of
from console.me.pages import PersonPage
from console.sessions.forms import PlaceForm
from knowledge.documents import access_document, list_chunks, list_documents
from recall.viewing import view_transcript
from tenants.errors import Invalid, NotFound
from working.listing import list_sessions

PASSAGES = 500


class ConversationsPage(PersonPage):
    """`/me/conversations`"""

    section = "conversations"

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_sessions(
            caller=self.caller, user_id=self.user_id, limit=SIZE + 1, before=position_of(request)
        )
        rows = rows_of(request, found, moment=lambda one: one.last_activity_at)
        return self.show("conversations", rows=rows)


class ConversationPage(PersonPage):
    """`/me/conversations/<id>`: that the person looked is noted like any other viewing."""

    section = "conversations"
    scopes = {"GET": "write"}

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        form = PlaceForm(request.GET)
        if not form.is_valid():
            raise Invalid("No event has such a number.", "at")
        found = view_transcript(caller=self.caller, row_id=session_row, **form.cleaned_data)
        return self.show("conversation", found=found)


class DocumentsPage(PersonPage):
    """`/me/documents`: what is kept for the person alone."""

    section = "documents"

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_documents(caller=self.caller, user_id=self.user_id, limit=PASSAGES)
        mine = [one.document for one in found if one.document.user_id == self.user_id]
        return self.show("documents", documents=mine)


class DocumentPage(PersonPage):
    """`/me/documents/<id>`"""

    section = "documents"

    def get(self, request: HttpRequest, document_id: UUID) -> HttpResponse:
        document = access_document(caller=self.caller, document_id=document_id).document
        if document.user_id != self.user_id:  # one of everybody's
            raise NotFound("There is no such document of yours.")
        chunks = list_chunks(caller=self.caller, document_id=document_id, limit=PASSAGES)
        return self.show("document", document=document, chunks=chunks)
