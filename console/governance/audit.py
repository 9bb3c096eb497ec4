"""The audit log."""

from datetime import datetime

from django import forms
from django.http import HttpRequest, HttpResponse

from console.cursors import SIZE, position_of, rows_of
from console.pages import Page
from tenants.audit import list_entries
from tenants.models import AuditEntry


class AuditForm(forms.Form):
    """Which entries are meant."""

    action = forms.CharField(
        label="Action",
        max_length=64,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "api_key.create"}),
    )
    actor = forms.CharField(
        label="Actor",
        max_length=255,
        required=False,
        widget=forms.TextInput(attrs={"placeholder": "member:ann"}),
    )
    subject = forms.CharField(label="Person (user id)", max_length=255, required=False)


class AuditPage(Page):
    """`/console/<tenant>/audit`"""

    section = "audit"
    scopes = {"GET": "privacy"}

    def get(self, request: HttpRequest) -> HttpResponse:
        form, position = AuditForm(request.GET), position_of(request)
        if not form.is_valid():
            return self.show("governance/audit", form=form, rows=rows_of(request, (), moment=_at), status=422)
        named = {name: given or None for name, given in form.cleaned_data.items()}
        found = list_entries(caller=self.caller, limit=SIZE + 1, before=position, **named)
        is_further = bool(getattr(request, "htmx", False)) and position is not None
        template = "_entries" if is_further else "audit"
        return self.show(f"governance/{template}", form=form, rows=rows_of(request, found, moment=_at))


def _at(entry: AuditEntry) -> datetime:
    return entry.at
