"""API keys: listed, made, rotated, revoked. A key's text is shown by the answer that makes it, and never
again."""

from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console.fields import Moment
from console.pages import Page, add_error
from tenants.api_keys import MAX_OVERLAP_SECONDS
from tenants.caller import SCOPES, Scope
from tenants.errors import Invalid
from tenants.managing_keys import NewKey, access_key, create_key, list_keys, revoke_key, rotate_key

SOON = timedelta(days=14)
ADMIN_ONLY: dict[str, Scope] = {"GET": "admin", "POST": "admin"}


class KeyForm(forms.Form):
    """What a new key may do."""

    name = forms.CharField(label="Name", max_length=200, required=False, help_text="What it is for.")
    scopes = forms.MultipleChoiceField(
        label="Scopes", choices=[(one, one) for one in SCOPES], widget=forms.CheckboxSelectMultiple
    )
    user_id = forms.CharField(label="Bound to user", max_length=255, required=False)
    agent_id = forms.CharField(label="Bound to agent", max_length=255, required=False)
    project = forms.CharField(label="Bound to project", max_length=200, required=False)
    expires_at = Moment(label="Expires", help_text="UTC; empty: never.")


class RotateForm(forms.Form):
    """For how long the old key works beside the new one."""

    overlap_hours = forms.FloatField(
        label="Overlap in hours",
        min_value=0,
        max_value=MAX_OVERLAP_SECONDS / 3_600,
        initial=24,
        help_text="So long both work, so that callers can change over; 0 revokes the old one at once.",
    )


class KeysPage(Page):
    """`/console/<tenant>/keys`"""

    section = "keys"
    scopes = {"GET": "admin"}

    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        context: dict[str, Any] = {"keys": list_keys(caller=self.caller), "now": now, "soon": now + SOON}
        return self.show("governance/keys", **context)


class KeyNewPage(Page):
    """`/console/<tenant>/keys/new`"""

    section = "keys"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show("governance/key_new", form=KeyForm(initial={"scopes": ["read", "write"]}))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = KeyForm(request.POST)
        if form.is_valid():
            new = NewKey(**form.cleaned_data | {"scopes": tuple(form.cleaned_data["scopes"])})
            try:
                key, text = create_key(caller=self.caller, new=new, now=timezone.now())
                return self.show("governance/key_made", key=key, text=text)
            except Invalid as error:
                add_error(form, error)
        return self.show("governance/key_new", form=form, status=422)


class KeyRotatePage(Page):
    """`/console/<tenant>/keys/<key_id>/rotate`"""

    section = "keys"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest, key_id: str) -> HttpResponse:
        key = access_key(caller=self.caller, key_id=key_id)
        return self.show("governance/key_rotate", key=key, form=RotateForm())

    def post(self, request: HttpRequest, key_id: str) -> HttpResponse:
        form = RotateForm(request.POST)
        if not form.is_valid():
            key = access_key(caller=self.caller, key_id=key_id)
            return self.show("governance/key_rotate", key=key, form=form, status=422)
        overlap = round(form.cleaned_data["overlap_hours"] * 3_600)
        key, text = rotate_key(caller=self.caller, key_id=key_id, overlap_seconds=overlap, now=timezone.now())
        return self.show("governance/key_made", key=key, text=text)


class KeyRevokePage(Page):
    """`/console/<tenant>/keys/<key_id>/revoke`"""

    section = "keys"
    scopes = ADMIN_ONLY

    def get(self, request: HttpRequest, key_id: str) -> HttpResponse:
        return self.show("governance/key_revoke", key=access_key(caller=self.caller, key_id=key_id))

    def post(self, request: HttpRequest, key_id: str) -> HttpResponse:
        revoke_key(caller=self.caller, key_id=key_id, now=timezone.now())
        self.say(f"The key {key_id} is revoked; every process refuses it within seconds.")
        return self.to("keys")
