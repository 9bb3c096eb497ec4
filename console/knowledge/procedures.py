"""Procedures: what each environment runs, what a version says, what changed, and the way back."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.pages import Page
from knowledge.models import Procedure
from knowledge.versions import History, list_named, read_history, roll_back
from lexical.differences import compare
from tenants.errors import NotFound


class ProceduresPage(Page):
    """`procedures`"""

    section = "procedures"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("knowledge/procedures", procedures=list_named(caller=self.caller))


class ProcedurePage(Page):
    """`procedure/<name>`: a version, or two of them compared."""

    section = "procedures"

    def get(self, request: HttpRequest, procedure: str) -> HttpResponse:
        history = read_history(caller=self.caller, name=procedure.rstrip("/"))
        usual = history.running[0].version if history.running else history.versions[0].version
        shown = _version(history, request.GET.get("version") or usual)
        other = request.GET.get("from", "")
        earlier = _version(history, other) if other else None
        return self.show(
            "knowledge/procedure",
            history=history, shown=shown, earlier=earlier,
            parts=compare(earlier.body, shown.body) if earlier else [],
        )  # fmt: skip


class RollBackForm(forms.Form):
    """Which environment is to run which version."""

    environment = forms.CharField(max_length=64)
    to = forms.CharField(max_length=64)


class RollBackPage(Page):
    """`procedure-roll-back/<name>`"""

    section = "procedures"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, procedure: str) -> HttpResponse:
        return self._ask(procedure, RollBackForm(request.GET if "to" in request.GET else None))

    def post(self, request: HttpRequest, procedure: str) -> HttpResponse:
        form = RollBackForm(request.POST)
        if not form.is_valid():
            return self._ask(procedure, form, status=422)
        name, said = procedure.rstrip("/"), form.cleaned_data
        done = roll_back(
            caller=self.caller, name=name, environment=said["environment"], to=said["to"], now=timezone.now()
        )
        if done.outcome == "unchanged":
            self.say(f"{done.environment} runs that version already.")
        else:
            self.say(
                f"{done.environment} runs version {done.procedure.version} now, instead of {done.before}."
            )
        return self.to("procedure", procedure=name)

    def _ask(self, procedure: str, form: RollBackForm, *, status: int = 200) -> HttpResponse:
        history = read_history(caller=self.caller, name=procedure.rstrip("/"))
        environment = str(form["environment"].value() or "")
        running = next((one for one in history.running if one.environment == environment), None)
        target = next((one for one in history.versions if one.version == form["to"].value()), None)
        parts = []
        if running and target:
            parts = compare(_version(history, running.version).body, target.body)
        return self.show(
            "knowledge/roll_back", form=form, history=history, running=running, target=target, parts=parts,
            environment=environment, status=status,
        )  # fmt: skip


def _version(history: History, version: str) -> Procedure:
    found = next((one for one in history.versions if one.version == version), None)
    if found is None:
        raise NotFound(f"There is no version {version[:64]} of this procedure.")
    return found
