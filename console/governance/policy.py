"""What a tenant and its agents decide: seen with its origin, edited, its history, the way back."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from console.cursors import number_in
from console.governance.policy_form import PolicyForm, initial_of
from console.pages import Page
from tenants.errors import Conflict, Invalid
from tenants.policy.telling import tell_policy
from tenants.policy.versions import (
    Level,
    LevelPolicy,
    access_level,
    diff_versions,
    list_changes,
    list_levels,
    read_level,
    replace_policy,
    rollback_policy,
)

PAGE = 30


class LevelPage(Page):
    """A page about the level that the address names."""

    section = "policy"

    def level(self, *, to_change: bool = False) -> Level:
        """The tenant's, or an agent's."""
        agent = self.request.GET.get("agent", "").strip()
        if len(agent) > 255 or "\0" in agent:
            raise Invalid("There is no agent of such a name.", "agent")
        return access_level(caller=self.caller, agent_id=agent or None, to_change=to_change)

    def show_level(self, template: str, policy: LevelPolicy, **context: Any) -> HttpResponse:
        """With the levels that there are, to choose from."""
        agents = list_levels(caller=self.caller)
        named: dict[str, Any] = {"policy": policy, "agent": policy.level.agent_id, "agents": agents}
        return self.show(f"governance/{template}", **named, **context)

    def query(self) -> str:
        """The address's query, for the way back."""
        return self.request.GET.urlencode()


class PolicyPage(LevelPage):
    """`/console/<tenant>/policy`"""

    def get(self, request: HttpRequest) -> HttpResponse:
        policy = read_level(level=self.level())
        return self.show_level("policy", policy, told=tell_policy(policy))


class PolicyEditPage(LevelPage):
    """`/console/<tenant>/policy/edit`"""

    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        policy = read_level(level=self.level(to_change=True))
        form = PolicyForm(tell_policy(policy), initial=initial_of(policy.document, policy.version))
        return self.show_level("policy_edit", policy, form=form)

    def post(self, request: HttpRequest) -> HttpResponse:
        policy = read_level(level=self.level(to_change=True))
        form, status = PolicyForm(tell_policy(policy), data=request.POST), 422
        if form.is_valid():
            try:
                written = replace_policy(
                    level=policy.level,
                    actor=self.caller.principal,
                    document=form.document(),
                    expected_version=form.cleaned_data["version"],
                    note=form.cleaned_data["note"],
                )
                self.say(f"The policy is at version {written.version}.")
                return self.to("policy", query=self.query())
            except Invalid as error:
                form.add_errors(error)
            except Conflict as error:
                form.add_error(None, str(error))
                status = 409
        return self.show_level("policy_edit", policy, form=form, status=status)


class PolicyHistoryPage(LevelPage):
    """`/console/<tenant>/policy/history`"""

    def get(self, request: HttpRequest) -> HttpResponse:
        before = number_in(request.GET.get("before", ""), field="before")
        level = self.level()
        found = list_changes(level=level, limit=PAGE + 1, before=before)
        more = found[PAGE - 1][0].version if len(found) > PAGE else None
        return self.show_level("policy_history", read_level(level=level), changes=found[:PAGE], more=more)


class PolicyRollbackPage(LevelPage):
    """`/console/<tenant>/policy/versions/<version>/rollback`"""

    scopes = {"GET": "admin", "POST": "admin"}

    def get(self, request: HttpRequest, policy_version: int) -> HttpResponse:
        level = self.level(to_change=True)
        policy = read_level(level=level)
        differences = diff_versions(level=level, from_version=policy.version, to_version=policy_version)[2]
        context = {"to": policy_version, "differences": differences}
        return self.show_level("policy_rollback", policy, **context)

    def post(self, request: HttpRequest, policy_version: int) -> HttpResponse:
        raw = request.POST.get("version", "")
        if not raw.isascii() or not raw.isdecimal() or len(raw) > 9:  # else it would be done to any version
            raise Invalid("Say which version you have seen.", "version")
        rolled = rollback_policy(
            level=self.level(to_change=True),
            actor=self.caller.principal,
            to_version=policy_version,
            expected_version=int(raw),
        )
        self.say(f"Version {rolled.version} says what version {policy_version} said.")
        return self.to("policy", query=self.query())
