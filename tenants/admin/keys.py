"""API keys: made, rotated and revoked. A key's text is shown by the answer that makes it, and never again."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils import timezone

from tenants.admin.base import actor_of, asking, caller_at, is_confirmed, page
from tenants.admin.filters import TenantFilter
from tenants.api_keys import MAX_OVERLAP_SECONDS, revoke_api_key, rotate_api_key
from tenants.caller import SCOPES
from tenants.errors import DomainError, Invalid
from tenants.managing_keys import NewKey, create_key
from tenants.models import ApiKey, Tenant

HOUR = 3_600  # seconds


class KeyForm(forms.Form):
    """What a new key may do."""

    tenant = forms.ModelChoiceField(Tenant.objects.order_by("slug"))
    name = forms.CharField(max_length=200, required=False, help_text="What it is for.")
    scopes = forms.MultipleChoiceField(
        choices=[(one, one) for one in SCOPES],
        widget=forms.CheckboxSelectMultiple,
        initial=["read", "write"],
    )
    user_id = forms.CharField(label="Bound to user", max_length=255, required=False)
    agent_id = forms.CharField(label="Bound to agent", max_length=255, required=False)
    project = forms.CharField(label="Bound to project", max_length=200, required=False)
    expires_at = forms.DateTimeField(
        label="Expires",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="UTC; empty: never.",
    )


class RotateForm(forms.Form):
    """For how long the old key works beside the new one."""

    overlap_hours = forms.FloatField(
        label="Overlap in hours",
        min_value=0,
        max_value=MAX_OVERLAP_SECONDS / HOUR,
        initial=24,
        help_text="So long both work, so that callers can change over; 0 revokes the old one at once.",
    )


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """A key is never changed: it is replaced, or revoked, which the audit log tells, and its row stays to say
    whose it was."""

    list_display = (
        "key_id",
        "name",
        "tenant",
        "scopes",
        "user_id",
        "agent_id",
        "project",
        "expires_at",
        "revoked_at",
        "replaces",
    )
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    search_fields = ("key_id", "name")
    exclude = ("secret_hash",)
    actions = ("rotate", "revoke")
    change_form_template = "admin/tenants/apikey/looked_at.html"

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.delete_apikey")

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms(["tenants.add_apikey", "tenants.delete_apikey"])

    def get_urls(self) -> list[URLPattern]:
        rotate = self.admin_site.admin_view(self.rotate_view)
        return [path("<uuid:row_id>/rotate/", rotate, name="tenants_apikey_rotate"), *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        context = {"may_rotate": self.has_rotate_permission(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The form, and then the key's text, this once."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = KeyForm(request.POST or None)
        if form.is_valid():
            given = dict(form.cleaned_data)
            tenant, scopes = given.pop("tenant"), tuple(given.pop("scopes"))
            try:
                key, text = create_key(
                    caller=caller_at(request, tenant), new=NewKey(scopes=scopes, **given), now=timezone.now()
                )
                return self._made(request, key, text)
            except Invalid as error:
                form.add_error(error.field if error.field in form.fields else None, str(error))
        told = ["Its text is shown once, when it is made. Only a hash of it is kept."]
        return asking(self, request, title="Make an API key", told=told, button="Make it", form=form)

    def rotate_view(self, request: HttpRequest, row_id: UUID) -> HttpResponse:
        """How long both work, and then the successor's text, this once."""
        if not self.has_rotate_permission(request):
            raise PermissionDenied
        key, form = get_object_or_404(ApiKey, id=row_id), RotateForm(request.POST or None)
        if form.is_valid():
            seconds = round(form.cleaned_data["overlap_hours"] * HOUR)
            try:
                successor, text = rotate_api_key(
                    key=key, actor=actor_of(request), overlap_seconds=seconds, now=timezone.now()
                )
                return self._made(request, successor, text)
            except DomainError as error:
                form.add_error(None, str(error))
        told = ["A new key takes its place, with the same scopes, bindings and end. Its text is shown once."]
        return asking(
            self, request, title=f"Rotate the key {key.key_id}", told=told, button="Rotate it",
            rows=_rows([key]), form=form, back=reverse("admin:tenants_apikey_changelist"),
        )  # fmt: skip

    @admin.action(description="Rotate the selected key", permissions=["rotate"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        keys = list(queryset[:2])
        if len(keys) != 1:
            self.message_user(request, "Select one key to rotate.", messages.ERROR)
            return None
        return HttpResponseRedirect(reverse("admin:tenants_apikey_rotate", args=[keys[0].id]))

    @admin.action(description="Revoke the selected keys", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse | None:
        keys = list(queryset.filter(revoked_at=None).select_related("tenant"))
        if not keys:
            self.message_user(request, "They are revoked already.", messages.ERROR)
            return None
        if not is_confirmed(request):
            told = ["Whoever uses one of them is refused within seconds. This cannot be undone."]
            return asking(
                self,
                request,
                title="Revoke API keys",
                told=told,
                button="Revoke them",
                rows=_rows(keys),
                is_dangerous=True,
            )
        for key in keys:
            revoke_api_key(key=key, actor=actor_of(request), now=timezone.now())
        self.message_user(request, f"{len(keys)} revoked.")
        return None

    def _made(self, request: HttpRequest, key: ApiKey, text: str) -> HttpResponse:
        answer = page(self, request, "apikey/made", title="The new API key", key=key, text=text)
        answer.headers["Cache-Control"] = "no-store"
        return answer


def _rows(keys: list[ApiKey]) -> list[tuple[object, object]]:
    return [(key.key_id, f"{key.tenant}, {', '.join(key.scopes)}. {key.name}") for key in keys]
