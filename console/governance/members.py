"""Members: who may do what in the tenant."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.pages import Page, add_error
from tenants.caller import Scope
from tenants.errors import Conflict, Invalid
from tenants.invitations import list_invitations
from tenants.managing_members import access_member_of, add_member, change_role, list_members, remove_member
from tenants.models import Role

ADMIN_ONLY: dict[str, Scope] = {"GET": "admin", "POST": "admin"}


class MemberForm(forms.Form):
    """Who is added, and as what."""

    name = forms.CharField(label="User name", max_length=150)
    role = forms.ChoiceField(label="Role", choices=Role.choices)


class MembersPage(Page):
    """`/console/<tenant>/members`: listed, and added."""

    section = "members"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._list(MemberForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = MemberForm(request.POST)
        if form.is_valid():
            try:
                add_member(caller=self.caller, **form.cleaned_data)
                self.say(f"{form.cleaned_data['name']} is a member.")
                return self.to("members")
            except Invalid as error:
                add_error(form, error)
            except Conflict as error:
                form.add_error("name", str(error))
        return self._list(form, status=422)

    def _list(self, form: MemberForm, *, status: int = 200) -> HttpResponse:
        context: dict[str, Any] = {
            "members": list_members(caller=self.caller),
            "invitations": list_invitations(caller=self.caller, now=timezone.now()),
            "form": form,
            "roles": Role.choices,
        }
        return self.show("governance/members", status=status, **context)


class MemberRolePage(Page):
    """`/console/<tenant>/members/<id>/role`"""

    section = "members"
    scopes = {"POST": "admin"}

    def post(self, request: HttpRequest, member_id: UUID) -> HttpResponse:
        change_role(caller=self.caller, member_id=member_id, role=request.POST.get("role", ""))
        self.say("The role is changed; it counts from the next request on.")
        return self.to("members")


class MemberRemovePage(Page):
    """`/console/<tenant>/members/<id>/remove`"""

    section = "members"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest, member_id: UUID) -> HttpResponse:
        member = access_member_of(caller=self.caller, member_id=member_id)
        return self.show("governance/member_remove", member=member)

    def post(self, request: HttpRequest, member_id: UUID) -> HttpResponse:
        remove_member(caller=self.caller, member_id=member_id)
        self.say("The membership has ended.")
        return self.to("members")
