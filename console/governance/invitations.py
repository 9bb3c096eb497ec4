"""Invitations: made, their link shown once, and revoked. Those that wait are listed with the members."""

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.governance.members import ADMIN_ONLY
from console.pages import Page, add_error
from tenants.errors import Conflict, Invalid
from tenants.invitations import LONGEST_NOTE, access_invitation, invite, revoke_invitation
from tenants.models import Role

LASTS = ((1, "one day"), (7, "a week"), (30, "30 days"))


class InvitationForm(forms.Form):
    """What the invited person will be, and until when they may come."""

    role = forms.ChoiceField(label="Role", choices=Role.choices)
    days = forms.TypedChoiceField(label="The link works for", choices=LASTS, coerce=int, initial=7)
    note = forms.CharField(
        label="For whom",
        max_length=LONGEST_NOTE,
        required=False,
        help_text="A note for the list of members; whoever has the link is not shown it.",
    )


class InvitationNewPage(Page):
    """`/console/<tenant>/invitations/new`"""

    section = "members"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("governance/invitation_new", form=InvitationForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = InvitationForm(request.POST)
        if form.is_valid():
            try:
                made, path = invite(caller=self.caller, now=timezone.now(), **form.cleaned_data)
                address = request.build_absolute_uri(path)
                return self.show("governance/invitation_made", invitation=made, address=address)
            except Invalid as error:
                add_error(form, error)
            except Conflict as error:
                form.add_error(None, str(error))
        return self.show("governance/invitation_new", form=form, status=422)


class InvitationRevokePage(Page):
    """`/console/<tenant>/invitations/<id>/revoke`"""

    section = "members"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest, invitation_id: UUID) -> HttpResponse:
        found = access_invitation(caller=self.caller, invitation_id=invitation_id)
        return self.show("governance/invitation_revoke", invitation=found)

    def post(self, request: HttpRequest, invitation_id: UUID) -> HttpResponse:
        revoke_invitation(caller=self.caller, invitation_id=invitation_id)
        self.say("The invitation is revoked: its link opens nothing any more.")
        return self.to("members")
