"""Sessions: their list, their state, their end; and for editors what was said in them."""

import json
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.http import urlencode

from console.cursors import SIZE, Rows, position_of, rows_of
from console.pages import Page
from console.sessions.forms import PlaceForm, SessionFilterForm
from recall.sessions import delete_session_row, end_session_row
from recall.viewing import (
    evict_from,
    view_ledger,
    view_question,
    view_session,
    view_transcript,
    view_window,
)
from tenants.errors import Invalid
from working.listing import list_sessions

LONGEST_CHECKPOINT = 50_000  # characters that are shown
LONGEST_QUERY = 2_000  # that the recall lab takes


class SessionsPage(Page):
    """`sessions`"""

    section = "sessions"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = SessionFilterForm(request.GET)
        narrowed = any(form.data.get(name) for name in form.fields)
        if not form.is_valid():
            return self.show("sessions/sessions", form=form, rows=Rows(()), narrowed=narrowed, status=422)
        found = list_sessions(caller=self.caller, limit=SIZE + 1, before=position_of(request), **form.named())
        rows = rows_of(request, found, moment=lambda one: one.last_activity_at)
        return self.show("sessions/sessions", form=form, rows=rows, narrowed=narrowed)


class SessionPage(Page):
    """`sessions/<id>`"""

    section = "sessions"

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        found = view_session(caller=self.caller, row_id=session_row)
        text = found.checkpoint.value if found.checkpoint else ""
        return self.show(
            "sessions/session",
            found=found,
            one=found.session,
            checkpoint=_readable(text) if self.caller.may_read_conversations else None,
            size=len(text.encode()),
            tab="session",
        )


class TranscriptPage(Page):
    """`sessions/<id>/transcript`: `at`, `after` or `before` an event's number"""

    section = "sessions"
    scopes = {"GET": "write"}

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        form = PlaceForm(request.GET)
        if not form.is_valid():
            raise Invalid("No event has such a number.", "at")
        found = view_transcript(caller=self.caller, row_id=session_row, **form.cleaned_data)
        return self.show("sessions/transcript", found=found, one=found.session, tab="transcript")


class AskPage(Page):
    """`sessions/<id>/ask/<number of the turn>`: to the recall lab, with what the user said in the turn. As
    assembling does, it asks the person's memory whole, or the agent's where there is no person."""

    section = "sessions"
    scopes = {"GET": "write"}

    def get(self, request: HttpRequest, session_row: UUID, seq: int) -> HttpResponse:
        session, text = view_question(caller=self.caller, row_id=session_row, seq=seq)
        whose = {"user": session.user_id} if session.user_id else {"agent": session.agent_id}
        return self.to("recall", query=urlencode({"q": text[:LONGEST_QUERY]} | whose))


class WindowPage(Page):
    """`sessions/<id>/window`"""

    section = "sessions"
    scopes = {"GET": "write"}

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        found = view_window(caller=self.caller, row_id=session_row, now=timezone.now())
        return self.show("sessions/window", found=found, one=found.session, tab="window")


class LedgerPage(Page):
    """`sessions/<id>/told`"""

    section = "sessions"

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        found = view_ledger(caller=self.caller, row_id=session_row)
        return self.show("sessions/told", found=found, one=found.session, tab="told")


class EvictPage(Page):
    """`sessions/<id>/evict`"""

    section = "sessions"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        item_key = request.POST.get("item", "")
        if not item_key or len(item_key) > 512 or "\x00" in item_key:
            raise Invalid("Name the item that is to be evicted.", "item")
        evicted = evict_from(caller=self.caller, row_id=session_row, item_key=item_key, now=timezone.now())
        self.say("Evicted: the session can be told it again." if evicted else "It had ended already.")
        return self.to("session-told", session_row=session_row)


class EndPage(Page):
    """`sessions/<id>/end`"""

    section = "sessions"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        found = view_session(caller=self.caller, row_id=session_row)
        return self.show("sessions/end", one=found.session)

    def post(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        ended = end_session_row(caller=self.caller, row_id=session_row, now=timezone.now())
        left = "Its summary was kept as an episode." if ended.episode_id else "It left no episode."
        self.say(f"The session has ended. {left}")
        return self.to("session", session_row=session_row)


class DeletePage(Page):
    """`sessions/<id>/delete`"""

    section = "sessions"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        found = view_session(caller=self.caller, row_id=session_row)
        return self.show("sessions/delete", found=found, one=found.session)

    def post(self, request: HttpRequest, session_row: UUID) -> HttpResponse:
        delete_session_row(caller=self.caller, row_id=session_row, now=timezone.now())
        self.say("The session is deleted. What it left in long-term memory stays.")
        return self.to("sessions")


def _readable(text: str) -> Any:
    """JSON laid out, or its beginning as it came, of what is very long."""
    if len(text) > LONGEST_CHECKPOINT:
        return text[:LONGEST_CHECKPOINT] + "…"
    try:
        return json.loads(text) if text else None
    except ValueError:  # such as a number of too many digits
        return text
