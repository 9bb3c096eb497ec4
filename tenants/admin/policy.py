"""Policies: each change is a new version that is checked as a whole; an old one can be brought back."""

import json
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode

from tenants.admin.base import ReadOnlyAdmin, actor_of, asking, is_confirmed, page
from tenants.admin.filters import TenantFilter
from tenants.errors import Conflict, DomainError, Invalid
from tenants.models import PolicyVersion, Tenant
from tenants.policy.overrides import Difference, diff_policies
from tenants.policy.telling import tell_policy
from tenants.policy.versions import (
    Level,
    LevelPolicy,
    read_level,
    replace_policy,
    rollback_policy,
    write_policy,
)

NOT_STORABLE = "This is not JSON, or none that can be stored."


class LevelForm(forms.Form):
    """Whose policy is meant."""

    tenant = forms.ModelChoiceField(Tenant.objects.order_by("slug"))
    agent_id = forms.CharField(
        label="Agent", max_length=255, required=False, help_text="Empty: of the tenant and all its agents."
    )


class PolicyForm(forms.Form):
    """The document of one level."""

    document = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 20, "cols": 80, "spellcheck": "false"}),
        help_text="JSON: only what differs from the level above; what is left out is that level's again.",
    )
    note = forms.CharField(max_length=500, required=False, help_text="Why it is changed.")
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def clean_document(self) -> dict[str, Any]:
        text = self.cleaned_data["document"].strip() or "{}"
        try:
            found = json.loads(text)
            stored = json.dumps(found, ensure_ascii=False, allow_nan=False)
            stored.encode()
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(NOT_STORABLE) from error
        if not isinstance(found, dict):
            raise forms.ValidationError("This must be a JSON object, such as {}.")
        if "\\u0000" in stored:
            raise forms.ValidationError(NOT_STORABLE)
        return found


class RetentionForm(forms.Form):
    """What a tenant's policy keeps for how long; what is left empty is the deployment's."""

    episodes_days = forms.IntegerField(
        label="Episodes of sessions, days", required=False, help_text="Summaries and highlights of sessions."
    )
    events_days = forms.IntegerField(
        label="Events, days", required=False, help_text="The log of turns and events."
    )
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


@admin.register(PolicyVersion)
class PolicyVersionAdmin(ReadOnlyAdmin):
    """The versions of tenants and agents, newest first. A new one is written on a page of its own."""

    list_display = ("created_at", "tenant", "agent_id", "version", "author", "note")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    search_fields = ("agent_id",)
    ordering = ("-created_at",)
    change_form_template = "admin/tenants/policyversion/looked_at.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.add_policyversion")

    def get_urls(self) -> list[URLPattern]:
        named = (
            ("of/<uuid:tenant_id>/edit/", self.edit_view, "edit"),
            ("of/<uuid:tenant_id>/retention/", self.retention_view, "retention"),
            ("<uuid:row_id>/bring-back/", self.back_view, "bring_back"),
        )
        own = [
            path(route, self.admin_site.admin_view(view), name=f"tenants_policyversion_{name}")
            for route, view, name in named
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        context = {"may_write": self.has_add_permission(request), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Asks whose, and leads to the page where it is written."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = LevelForm(request.POST or None)
        if form.is_valid():
            address = reverse("admin:tenants_policyversion_edit", args=[form.cleaned_data["tenant"].id])
            agent = urlencode({"agent": form.cleaned_data["agent_id"]})
            return HttpResponseRedirect(f"{address}?{agent}")
        told = ["Each tenant has a policy, and may have another for an agent."]
        return asking(self, request, title="Write a policy", told=told, button="Go on", form=form)

    def edit_view(self, request: HttpRequest, tenant_id: UUID) -> HttpResponse:
        """The newest document of a tenant, or of its agent that the address names, to write the next."""
        tenant, level = self._level(request, tenant_id, request.GET.get("agent", ""))
        policy = read_level(level=level)
        initial = {"document": json.dumps(policy.document, indent=2), "version": policy.version}
        form = PolicyForm(request.POST or None, initial=initial)
        if form.is_valid():
            given = form.cleaned_data
            try:
                written = replace_policy(
                    level=level,
                    actor=actor_of(request),
                    document=given["document"],
                    expected_version=given["version"],
                    note=given["note"],
                )
                return self._written(request, policy, written)
            except (Invalid, Conflict) as error:
                form.add_error("document", _told(error))
        return page(
            self, request, "policyversion/edit", title=f"Policy of {level.agent_id or tenant.slug}",
            form=form, tenant=tenant, level=level, policy=policy, sections=tell_policy(policy),
        )  # fmt: skip

    def retention_view(self, request: HttpRequest, tenant_id: UUID) -> HttpResponse:
        """For how long the tenant's policy keeps what sessions leave behind."""
        tenant, level = self._level(request, tenant_id, "")
        policy = read_level(level=level)
        initial = {**policy.document.get("retention", {}), "version": policy.version}
        form = RetentionForm(request.POST or None, initial=initial)
        if form.is_valid():
            days = {name: form.cleaned_data[name] for name in ("episodes_days", "events_days")}
            try:
                written = write_policy(
                    level=level,
                    actor=actor_of(request),
                    changes={"retention": days},
                    expected_version=form.cleaned_data["version"],
                )
                return self._written(request, policy, written)
            except (Invalid, Conflict) as error:
                name = error.field.rpartition(".")[2] if isinstance(error, Invalid) else ""
                form.add_error(name if name in days else None, str(error))
        usual = policy.defaults.retention
        told = [
            f"Left empty, it is the deployment's: {usual.episodes_days} and {usual.events_days} days. What "
            "is older goes with the next nightly run, for good; what was saved on purpose or is pinned stays."
        ]
        return asking(
            self, request, title=f"Retention of {tenant.slug}", told=told, button="Save a new version",
            form=form, back=reverse("admin:tenants_tenant_change", args=[tenant.id]),
        )  # fmt: skip

    def back_view(self, request: HttpRequest, row_id: UUID) -> HttpResponse:
        """What would change, and then an old version's document as the newest version."""
        old = get_object_or_404(PolicyVersion.objects.select_related("tenant"), id=row_id)
        _tenant, level = self._level(request, old.tenant_id, old.agent_id)
        policy = read_level(level=level)
        if is_confirmed(request):
            try:
                written = rollback_policy(level=level, actor=actor_of(request), to_version=old.version)
                return self._written(request, policy, written)
            except DomainError as error:
                self.message_user(request, str(error), "ERROR")
        differences = diff_policies(policy.document, old.document)
        told = [
            f"Version {old.version} of {level.agent_id or old.tenant.slug} becomes version "
            f"{policy.version + 1}, which takes effect within seconds. No version is lost."
            if differences
            else f"Version {old.version} says the same as the newest one, {policy.version}: nothing changes."
        ]
        return asking(
            self, request, title=f"Bring version {old.version} back", told=told, button="Bring it back",
            rows=_rows(differences), back=reverse("admin:tenants_policyversion_change", args=[old.id]),
        )  # fmt: skip

    def _level(self, request: HttpRequest, tenant_id: UUID, agent_id: str) -> tuple[Tenant, Level]:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return get_object_or_404(Tenant, id=tenant_id), Level(tenant_id, agent_id[:255].replace("\0", ""))

    def _written(self, request: HttpRequest, before: LevelPolicy, after: LevelPolicy) -> HttpResponse:
        changed = after.version != before.version
        told = (
            f"Version {after.version} is written." if changed else "Nothing differs: no version was written."
        )
        self.message_user(request, told)
        level = after.level
        row = PolicyVersion.objects.filter(
            tenant_id=level.tenant_id, agent_id=level.agent_id, version=after.version
        ).first()
        if row is None:  # nothing is decided yet
            return HttpResponseRedirect(reverse("admin:tenants_policyversion_changelist"))
        return HttpResponseRedirect(reverse("admin:tenants_policyversion_change", args=[row.id]))


def _told(error: DomainError) -> str:
    field = error.field if isinstance(error, Invalid) else ""
    return f"{field}: {error}" if field else str(error)


def _rows(differences: list[Difference]) -> list[tuple[object, object]]:
    return [(one.field, f"{_value(one.before)} becomes {_value(one.after)}") for one in differences]


def _value(value: Any) -> str:
    return "what stands above it" if value is None else json.dumps(value, ensure_ascii=False)
