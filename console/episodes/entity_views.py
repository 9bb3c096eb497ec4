"""Slots: what is believed of whom, what waits to be confirmed, and what it was before."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.cursors import SIZE, Rows, position_of, rows_of
from console.episodes.entity_forms import EntityFilterForm, EntityForm, NewEntityForm
from console.fields import Json
from console.pages import Page, add_error
from episodic.entities import (
    NewEntity,
    SlotWrite,
    confirm_entity,
    delete_entity,
    list_entities,
    pin_entity,
    search_entities,
    unpin_entity,
)
from episodic.rejecting import reject_entity
from episodic.whole import WholeSlot, read_whole_slot
from ledger.models import WriteDecision
from recall.saving_entities import save_entity
from tenants.errors import Conflict, Invalid, TooLarge

SOURCE = "console"


class EntitiesPage(Page):
    """`entities`"""

    section = "entities"

    def get(self, request: HttpRequest) -> HttpResponse:
        form, position = EntityFilterForm(request.GET), position_of(request)
        if not form.is_valid():
            return self._listed(form, Rows(()), status=422)
        try:
            if form.cleaned_data["q"]:
                return self._found(form)
            found = list_entities(caller=self.caller, where=form.where(), limit=SIZE + 1, before=position)
        except Invalid as error:
            add_error(form, error)
            return self._listed(form, Rows(()), status=422)
        return self._listed(form, rows_of(request, found, moment=lambda one: one.updated_at))

    def _found(self, form: EntityFilterForm) -> HttpResponse:
        query = form.cleaned_data["q"]
        found = search_entities(caller=self.caller, where=form.where(), query=query, limit=SIZE)
        return self._listed(form, Rows([slot for slot, _cosine in found]))

    def _listed(self, form: EntityFilterForm, rows: Rows, **context: Any) -> HttpResponse:
        narrowed = any(form.data.get(name) for name in form.fields)
        return self.show("episodes/entities", form=form, rows=rows, narrowed=narrowed, **context)


class EntityPage(Page):
    """`entities/<id>`: the slot that this value is, or was, one of."""

    section = "entities"

    def get(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        return self.show("episodes/entity", slot=slot, entity_id=entity_id)


class EntityEditPage(Page):
    """`entities/<id>/edit`"""

    section = "entities"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        return self.show(
            "episodes/entity_edit", form=EntityForm(initial=_said(slot)), slot=slot, id=entity_id
        )

    def post(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        slot, form = read_whole_slot(caller=self.caller, entity_id=entity_id), EntityForm(request.POST)
        if form.is_valid() and saved(self, form, slot.user_id, slot.key):
            self.say("The slot holds this from now on. What it held before is in its history.")
            return self.to("entity", entity_id=entity_id)
        return self.show("episodes/entity_edit", form=form, slot=slot, id=entity_id, status=422)


class EntityNewPage(Page):
    """`entities/new`"""

    section = "entities"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(
            "episodes/entity_new", form=NewEntityForm(initial={"user": request.GET.get("user", "")})
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewEntityForm(request.POST)
        if form.is_valid():
            done = saved(self, form, form.cleaned_data["user"], form.cleaned_data["key"])
            if done is not None and done.entity is not None:
                self.say("The slot holds this from now on.")
                return self.to("entity", entity_id=done.entity.id)
        return self.show("episodes/entity_new", form=form, status=422)


class EntityPinPage(Page):
    """`entities/<id>/pin`: with `on`, pins it; else leaves it to what is extracted."""

    section = "entities"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        set_pin = pin_entity if "on" in request.POST else unpin_entity
        set_pin(caller=self.caller, user_id=slot.user_id, key=slot.key, now=timezone.now())
        self.say("Pinned: agents may not change it." if "on" in request.POST else "No longer pinned.")
        return self.to("entity", entity_id=entity_id)


class EntityDecidePage(Page):
    """`entities/<id>/decide`: what becomes of the value that waits."""

    section = "entities"
    scopes = {"POST": "write"}

    def post(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        decide = {"confirm": confirm_entity, "reject": reject_entity}.get(request.POST.get("how", ""))
        if decide is None:
            raise Invalid("Choose between confirming it and rejecting it.", "how")
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        if slot.pending is None or request.POST.get("value") != str(slot.pending.id):
            raise Conflict("Another value waits by now: look at it first.")
        decide(caller=self.caller, user_id=slot.user_id, key=slot.key, now=timezone.now())
        self.say("Confirmed: it holds from now on." if decide is confirm_entity else "Rejected.")
        return self.to("entity", entity_id=entity_id)


class EntityDeletePage(Page):
    """`entities/<id>/delete`: takes the value back, or removes the slot with its history."""

    section = "entities"
    scopes = {"GET": "write", "POST": "write"}

    def get(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        return self.show("episodes/entity_delete", slot=slot, entity_id=entity_id)

    def post(self, request: HttpRequest, entity_id: UUID) -> HttpResponse:
        how = request.POST.get("how")
        if how not in ("retract", "for_good"):
            raise Invalid("Choose between retracting it and deleting it for good.", "how")
        slot = read_whole_slot(caller=self.caller, entity_id=entity_id)
        hard, now = how == "for_good", timezone.now()
        delete_entity(caller=self.caller, user_id=slot.user_id, key=slot.key, hard=hard, now=now)
        self.say("Deleted with its history." if hard else "Retracted: it is history now.")
        return self.to("entities") if hard else self.to("entity", entity_id=entity_id)


def saved(page: Page, form: EntityForm, user_id: str, key: str) -> SlotWrite | None:
    """What became of the write; None, with the reason in the form, if nothing was written."""
    new = NewEntity(user_id=user_id, key=key, value=form.value(), source=SOURCE)
    try:
        done = save_entity(caller=page.caller, new=new, now=timezone.now())
    except (Invalid, TooLarge, Conflict) as error:
        add_error(form, error if isinstance(error, Invalid) else Invalid(str(error)))
        return None
    if isinstance(done, SlotWrite) and done.entity is not None:
        return done
    waits = isinstance(done, WriteDecision) and done.outcome == WriteDecision.Outcome.HELD
    further = " It waits under Write decisions to be confirmed." if waits else ""
    form.add_error(None, f"It was not written: {done.reason.replace('_', ' ')}.{further}")
    return None


def _said(slot: WholeSlot) -> dict[str, Any]:
    row = slot.current or slot.pending or slot.history[0]
    if isinstance(row.value, str):
        return {"kind": "text", "text": row.value}
    return {"kind": "json", "text": Json(required=False).prepare_value(row.value)}
