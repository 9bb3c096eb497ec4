"""Writing an observation, changing it, throwing it away and fetching it back."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.observations.forms import TYPES, EditForm, NewForm, OwnerForm, TextForm, joined
from console.pages import Page
from observations.editing import edit_observation
from observations.models import Observation
from observations.observations import access_observation
from observations.reassigning import reassign_observation
from observations.saving import save_observation
from observations.selecting import list_names
from observations.trash import delete_observation, restore_observation
from observations.validation import InvalidObservation
from tenants.errors import Conflict, PreconditionFailed

FORM = "observations/form"
OVERTAKEN = (
    "Somebody has changed it meanwhile. Look at what it says now, or save again: yours replaces that, which "
    "stays in the history."
)


class TextPage(Page):
    """A form with an observation's fields."""

    section = "observations"
    scopes = {"GET": "write", "POST": "write"}

    def form_again(self, form: TextForm, *, status: int = 200, **context: Any) -> HttpResponse:
        names = list_names(caller=self.caller)
        return self.show(FORM, form=form, names=names, types=TYPES, status=status, **context)


class NewPage(TextPage):
    """`observations/new`"""

    def get(self, request: HttpRequest) -> HttpResponse:
        start = {"scope": "project", "type": "discovery", "session_id": f"console-{self.caller.key_id}"}
        return self.form_again(NewForm(initial=start | request.GET.dict()))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewForm(request.POST)
        if not form.is_valid():
            return self.form_again(form, status=422)
        try:
            saved = save_observation(caller=self.caller, new=form.new(), now=timezone.now())
        except InvalidObservation as error:
            return self.form_again(_with_errors(form, error), status=422)
        self.say(
            {
                "created": "Saved. Agents find it from now on.",
                "updated": "Another one had this topic key: it says this now, and keeps what it said.",
                "deduplicated": "Nothing new: the same was saved a moment ago.",
            }[saved.action]
        )
        return self.to("observation", observation_id=saved.observation.id)


class EditPage(TextPage):
    """`observations/<id>/edit`"""

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id)
        return self.form_again(EditForm(initial=_fields(one)), one=one)

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id)
        form = EditForm(request.POST)
        if not form.is_valid():
            return self.form_again(form, one=one, status=422)
        try:
            edit_observation(
                caller=self.caller, observation_id=observation_id, changes=form.changes(one),
                now=timezone.now(), expected=form.cleaned_data["seen"],
            )  # fmt: skip
        except InvalidObservation as error:
            return self.form_again(_with_errors(form, error), one=one, status=422)
        except Conflict as error:
            form.add_error("topic_key", str(error))
            return self.form_again(form, one=one, status=409)
        except PreconditionFailed:
            return self._overtaken(request, observation_id)
        self.say("Changed. What it said before is in its history.")
        return self.to("observation", observation_id=observation_id)

    def _overtaken(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        """What was typed is not lost, and saved over the other's change by whoever has seen that."""
        one = access_observation(caller=self.caller, observation_id=observation_id)
        form = EditForm(request.POST.dict() | {"seen": _fields(one)["seen"]})
        form.add_error(None, OVERTAKEN)
        return self.form_again(form, one=one, status=412)


class ReassignPage(Page):
    """`observations/<id>/reassign`: whose it is."""

    section = "observations"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id)
        said = {"user": one.user_id, "agent": one.agent_id, "seen": _fields(one)["seen"]}
        return self.show("observations/reassign", form=OwnerForm(initial=said), one=one)

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id)
        form = OwnerForm(request.POST)
        if not form.is_valid():
            return self.show("observations/reassign", form=form, one=one, status=422)
        try:
            reassign_observation(
                caller=self.caller, observation_id=observation_id, owner=form.owner(),
                now=timezone.now(), expected=form.cleaned_data["seen"],
            )  # fmt: skip
        except Conflict as error:
            form.add_error("user", str(error))
            return self.show("observations/reassign", form=form, one=one, status=409)
        self.say("Whose it is was corrected, and is in the audit log.")
        return self.to("observation", observation_id=observation_id)


class OnePage(Page):
    """A question about one observation before something is done to it."""

    section = "observations"
    scopes = {"GET": "write", "POST": "write"}
    deed = ""

    def get(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        one = access_observation(caller=self.caller, observation_id=observation_id, trashed=True)
        return self.show("observations/sure", one=one, deed=self.deed)


class TrashPage(OnePage):
    """`observations/<id>/trash`"""

    deed = "trash"

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        self._delete(observation_id, hard=False)
        self.say("Moved to the trash. Agents no longer find it; it can be restored.")
        return self.to("observation", observation_id=observation_id)

    def _delete(self, observation_id: int, *, hard: bool) -> None:
        access_observation(caller=self.caller, observation_id=observation_id, trashed=True)
        delete_observation(caller=self.caller, observation_id=observation_id, hard=hard, now=timezone.now())


class DeletePage(TrashPage):
    """`observations/<id>/delete`: for good."""

    scopes = {"GET": "admin", "POST": "admin"}
    deed = "delete"

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        self._delete(observation_id, hard=True)
        self.say("Deleted for good, with its history.")
        return self.to("observations")


class RestorePage(OnePage):
    """`observations/<id>/restore`"""

    deed = "restore"

    def post(self, request: HttpRequest, observation_id: int) -> HttpResponse:
        restore_observation(caller=self.caller, observation_id=observation_id, now=timezone.now())
        self.say("Restored. Agents find it again.")
        return self.to("observation", observation_id=observation_id)


def _fields(one: Observation) -> dict[str, Any]:
    return {
        "title": one.title,
        "type": one.type,
        "content": one.content,
        "tags": joined(one.tags),
        "project": one.project,
        "scope": one.scope,
        "topic_key": one.topic_key,
        "session_id": one.session,
        "seen": one.updated_at.isoformat(timespec="microseconds"),
    }


def _with_errors(form: TextForm, error: InvalidObservation) -> TextForm:
    """Each of the domain's findings beside its field."""
    for problem in str(error).removeprefix("validation failed: ").split("; "):
        named = problem.partition(" ")[0]
        field = "tags" if named == "tag" else named
        said = problem.replace("session_id", "session", 1)
        form.add_error(field if field in form.fields else None, f"{said[0].upper()}{said[1:]}.")
    return form
