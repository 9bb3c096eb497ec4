"""What sessions were told: where a memory was used, why, and whether it helped."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, Rows, position_of, rows_of
from console.ledger.forms import LedgerForm
from console.pages import Page
from recall.memory_usage import find_memories, list_told, memory_usage, told_in_turn
from tenants.errors import Invalid


class LedgerPage(Page):
    """`ledger`: with `kind` and `id` the usage of one memory, with `q` the memories that could be meant."""

    section = "ledger"

    def get(self, request: HttpRequest) -> HttpResponse:
        form, position = LedgerForm(request.GET), position_of(request)
        if not form.is_valid():
            return self.show("ledger/ledger", form=form, rows=Rows(()), status=422)
        if form.cleaned_data["q"]:
            return self._picks(form)
        found = list_told(caller=self.caller, where=form.where(), limit=SIZE + 1, before=position)
        rows = rows_of(request, found, moment=lambda one: one.injection.marked_at)
        memory = form.memory
        usage = memory and memory_usage(caller=self.caller, kind=memory[0], memory_id=memory[1])
        narrowed = any(form.cleaned_data.values())
        return self.show("ledger/ledger", form=form, rows=rows, usage=usage, narrowed=narrowed)

    def _picks(self, form: LedgerForm) -> HttpResponse:
        given = form.cleaned_data
        try:
            picks = find_memories(
                caller=self.caller, text=given["q"], user_id=given["user"], now=timezone.now()
            )
        except Invalid as error:
            form.add_error("user" if error.field == "user_id" else None, str(error))
            return self.show("ledger/ledger", form=form, rows=Rows(()), status=422)
        return self.show("ledger/ledger", form=form, picks=picks, is_search=True, narrowed=True)


class TurnPage(Page):
    """`ledger/<session>/<number of the turn>`"""

    section = "ledger"

    def get(self, request: HttpRequest, session_row: UUID, seq: int) -> HttpResponse:
        turn = told_in_turn(caller=self.caller, row_id=session_row, seq=seq)
        return self.show("ledger/turn", turn=turn)
