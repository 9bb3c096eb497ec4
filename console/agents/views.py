"""Agents as they are declared, and a dry run of their hooks."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.agents.forms import EXAMPLE, EXAMPLE_CALL, EXAMPLE_HOOKS, NewForm, SpecForm, TryForm
from console.pages import Page
from recall.hooks.rehearsal import rehearse, tools_of
from tenants.agents.agents import access_agent, delete_agent, list_agents, put_agent
from tenants.agents.parsing import as_yaml
from tenants.agents.spec import agent_spec
from tenants.errors import Invalid, TooLarge

SIZE = 100
REASONS = {
    "tool_error": "the call came to no result",
    "output_not_matched": "the output does not match its pattern",
    "arg_missing": "an argument that it looks at is missing, empty or no text",
    "arg_not_matched": "an argument does not match its pattern",
    "invalid_regex": "its pattern is not valid",
    "output_empty": "there is no output to save",
}


class AgentsPage(Page):
    """`agents`"""

    section = "agents"

    def get(self, request: HttpRequest) -> HttpResponse:
        found = list_agents(caller=self.caller, limit=SIZE + 1, after=request.GET.get("after") or None)
        shown = [(one, agent_spec(one.name, one.spec)) for one in found[:SIZE]]
        return self.show("agents/list", agents=shown, more=found[SIZE - 1].name if len(found) > SIZE else "")


class AgentPage(Page):
    """`agent/<name>`"""

    section = "agents"

    def get(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        return self.show("agents/one", one=one, spec=agent_spec(one.name, one.spec), text=as_yaml(one.spec))


class SpecPage(Page):
    """A form with a declaration."""

    section = "agents"
    scopes = {"GET": "admin", "POST": "admin"}

    def save(self, form: SpecForm, name: str, **context: Any) -> HttpResponse:
        try:
            done = put_agent(caller=self.caller, name=name, document=form.document(), now=timezone.now())
        except (Invalid, TooLarge) as error:
            where = getattr(error, "field", "")
            if where == "name" and "name" in form.fields:
                form.add_error("name", str(error))
            else:
                form.add_error("spec", f"{where}: {error}" if where else str(error))
            return self.show("agents/form", form=form, status=422, **context)
        if done.changed:
            self.say(f"Declared, version {done.agent.version}. It holds in every process within seconds.")
        else:
            self.say("Nothing was changed: it was declared like this already.")
        return self.to("agent", agent=name)


class NewPage(SpecPage):
    """`agent-new`"""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("agents/form", form=NewForm(initial={"spec": EXAMPLE}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewForm(request.POST)
        if not form.is_valid():
            return self.show("agents/form", form=form, status=422)
        return self.save(form, form.cleaned_data["name"])


class EditPage(SpecPage):
    """`agent-edit/<name>`"""

    def get(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        return self.show("agents/form", form=SpecForm(initial={"spec": as_yaml(one.spec)}), one=one)

    def post(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        form = SpecForm(request.POST)
        if not form.is_valid():
            return self.show("agents/form", form=form, one=one, status=422)
        return self.save(form, one.name, one=one)


class HooksPage(Page):
    """`agent-hooks/<name>`: what its hooks would do with a call. Sending the form changes nothing; it is a
    POST because outputs are long, and do not belong into addresses."""

    section = "agents"
    scopes = {"GET": "read", "POST": "read"}

    def get(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        tool = request.GET.get("tool", "")
        has_hooks = bool(tools_of(agent_spec(one.name, one.spec)))
        return self._show(one, TryForm(initial={"tool": tool} if tool or has_hooks else EXAMPLE_CALL))

    def post(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        form = TryForm(request.POST)
        if not form.is_valid():
            return self._show(one, form, status=422)
        return self._show(one, form, tried=rehearse(caller=self.caller, agent=one.name, result=form.result()))

    def _show(self, one: Any, form: TryForm, *, status: int = 200, **context: Any) -> HttpResponse:
        spec = agent_spec(one.name, one.spec)
        return self.show(
            "agents/hooks", one=one, spec=spec, form=form, tools=tools_of(spec), reasons=REASONS,
            example=EXAMPLE_HOOKS, status=status, **context,
        )  # fmt: skip


class ForgetPage(Page):
    """`agent-forget/<name>`"""

    section = "agents"
    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, agent: str) -> HttpResponse:
        return self.show("agents/forget", one=access_agent(caller=self.caller, name=agent.rstrip("/")))

    def post(self, request: HttpRequest, agent: str) -> HttpResponse:
        one = access_agent(caller=self.caller, name=agent.rstrip("/"))
        delete_agent(caller=self.caller, name=one.name)
        self.say("Forgotten. The defaults hold for that name now; its memories stay.")
        return self.to("agents")
