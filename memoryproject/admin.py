"""The operator's pages of a tenant as a whole: who may enter it, what its policy keeps for how long, and the
memory of any of its people, to be exported, restricted or erased."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import DateTimeField, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode

from episodic.retention import enqueue_retention, expire_memory
from recall.subjects.people import summary_of
from tenants import audit
from tenants.admin import actor_of, asking, caller_at, is_confirmed
from tenants.caller import Caller
from tenants.errors import DomainError
from tenants.models import Member, Tenant
from tenants.policy.reading import read_policy
from tenants.privacy.erasure import list_receipts, request_erasure
from tenants.privacy.export import request_export
from tenants.privacy.requests import exports_of
from tenants.restrictions import lift_restriction, restrict_subject
from tenants.scope import scope

LINKS = {  # its lists, by what they are called
    "apikey": "API keys",
    "member": "Members",
    "policyversion": "Versions of its policy",
    "job": "Jobs",
    "tombstone": "Receipts of erasures",
    "restriction": "Restricted people",
    "auditentry": "Audit log",
}
NEWEST = 20


class PersonForm(forms.Form):
    """Whose memory is meant."""

    user_id = forms.CharField(label="User id", max_length=255, strip=False)


class DeedForm(PersonForm):
    """What is to be done with it; to erase, the id is typed once more."""

    deed = forms.ChoiceField(choices=[(one, one) for one in ("export", "erase", "restrict", "lift")])
    confirmation = forms.CharField(required=False, max_length=255, strip=False)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if data.get("deed") == "erase" and data.get("confirmation") != data.get("user_id"):
            raise forms.ValidationError("To erase everything, type the user id once more.")
        return data


@admin.register(Tenant)
class TenantAdmin(admin.ModelAdmin):
    """Tenants are disabled here, not deleted: that would take their audit log along."""

    list_display = ("slug", "name", "created_at", "disabled_at")
    search_fields = ("slug", "name")
    readonly_fields = ("members", "retention", "pages", "lists")
    actions = ("retain",)
    formfield_overrides = {  # one field with one label; Django's own are two without
        DateTimeField: {
            "form_class": forms.DateTimeField,
            "widget": forms.DateTimeInput({"type": "datetime-local", "step": 1}, format="%Y-%m-%dT%H:%M:%S"),
        }
    }

    def get_fields(self, request: HttpRequest, obj: Tenant | None = None) -> Any:
        """Of one that is not made yet there is nothing to tell."""
        own = ("slug", "name", "disabled_at")
        return own if obj is None else (*own, *self.readonly_fields)

    @admin.display(description="members")
    def members(self, obj: Tenant) -> str:
        """Who may enter it; the names lead to the pages where that is changed."""
        rows = Member.objects.filter(tenant=obj).select_related("user").order_by("user__username")
        shown = (
            (reverse("admin:tenants_member_change", args=[row.id]), row.user, row.get_role_display())
            for row in rows
        )
        return format_html_join("", '<div><a href="{}">{}</a>: {}</div>', shown) or "-"

    @admin.display(description="retention")
    def retention(self, obj: Tenant) -> str:
        """For how long the tenant's policy keeps what sessions leave behind, and where that is changed."""
        kept = read_policy(tenant_id=obj.id).retention
        return format_html(
            'episodes {} days, events {} days: <a href="{}">Change how long</a>',
            kept.episodes_days,
            kept.events_days,
            reverse("admin:tenants_policyversion_retention", args=[obj.id]),
        )

    @admin.display(description="more of it")
    def pages(self, obj: Tenant) -> str:
        shown = (
            (reverse("admin:tenants_tenant_person", args=[obj.id]), "A person's memory"),
            (reverse("admin:tenants_policyversion_edit", args=[obj.id]), "Write the policy"),
        )
        return format_html_join(" · ", '<a href="{}">{}</a>', shown)

    @admin.display(description="lists")
    def lists(self, obj: Tenant) -> str:
        """Each of this tenant alone."""
        shown = (
            (f"{reverse(f'admin:tenants_{name}_changelist')}?tenant={obj.slug}", label)
            for name, label in LINKS.items()
        )
        return format_html_join(" · ", '<a href="{}">{}</a>', shown)

    def save_model(self, request: HttpRequest, obj: Tenant, form: ModelForm, change: bool) -> None:
        """Saves and records, in the transaction that the admin holds around every form."""
        super().save_model(request, obj, form, change)
        audit.record(
            tenant_id=obj.id,
            actor=actor_of(request),
            action="tenant.change" if change else "tenant.create",
            target=obj.slug,
            fields=form.changed_data,
        )

    def has_delete_permission(self, request: HttpRequest, obj: Tenant | None = None) -> bool:
        return False

    def has_person_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_tenant")

    @admin.action(description="Delete what is older than the policy keeps", permissions=["person"])
    def retain(self, request: HttpRequest, queryset: QuerySet[Tenant]) -> HttpResponse | None:
        tenants, now = list(queryset), timezone.now()
        if not is_confirmed(request):
            told = [
                "What sessions left behind and is older than each policy keeps is deleted by jobs, in every "
                "store. This cannot be undone. What was saved on purpose or is pinned stays."
            ]
            rows = [(one.slug, _too_old(one, actor_of(request), now)) for one in tenants]
            return asking(
                self,
                request,
                title="Run retention",
                told=told,
                button="Delete it",
                rows=rows,
                is_dangerous=True,
            )
        begun = enqueue_retention(now=now, tenants=[one.id for one in tenants])
        for one in tenants:
            with scope(one.id):
                audit.record(tenant_id=one.id, actor=actor_of(request), action="retention.begin")
        self.message_user(request, f"{begun} of the tenants have something too old; jobs delete it now.")
        return None

    def get_urls(self) -> list[URLPattern]:
        person = self.admin_site.admin_view(self.person)
        return [path("<uuid:tenant_id>/person/", person, name="tenants_tenant_person"), *super().get_urls()]

    def person(self, request: HttpRequest, tenant_id: Any) -> HttpResponse:
        """A person's memory in figures, and what can be done with all of it."""
        if not self.has_person_permission(request):
            raise PermissionDenied
        tenant = get_object_or_404(Tenant, id=tenant_id)
        caller = caller_at(request, tenant)
        if request.method == "POST" and (done := self._do(request, caller)):
            address = reverse("admin:tenants_tenant_person", args=[tenant.id])
            return HttpResponseRedirect(f"{address}?{urlencode({'user_id': done})}")
        user_id = request.GET.get("user_id", "")
        context = {
            **self.admin_site.each_context(request),
            "title": f"A person's memory in {tenant.slug}",
            "opts": self.opts,
            "tenant": tenant,
            "form": PersonForm(initial={"user_id": user_id}),
            "user_id": user_id,
            **(_about(caller, user_id) if user_id else {}),
        }
        return TemplateResponse(request, "admin/tenants/tenant/person.html", context)

    def _do(self, request: HttpRequest, caller: Caller) -> str:
        """Carries out what the form asks for; whose memory it was. Says what is wrong otherwise."""
        form = DeedForm(request.POST)
        if not form.is_valid():
            for text in (text for texts in form.errors.values() for text in texts):
                self.message_user(request, str(text), messages.ERROR)
            return str(request.POST.get("user_id", ""))
        user_id = str(form.cleaned_data["user_id"])
        try:
            self.message_user(request, done_by(form.cleaned_data["deed"], caller, user_id))
        except DomainError as error:
            self.message_user(request, str(error), messages.ERROR)
        return user_id


def _too_old(tenant: Tenant, actor: str, now: datetime) -> str:
    """What a run would delete now."""
    found = expire_memory(tenant_id=tenant.id, tenant=tenant.slug, actor=actor, now=now, dry_run=True)
    return f"{found.episodes} episodes, {found.events} events"


def done_by(deed: str, caller: Caller, user_id: str) -> str:
    """Does it, and says so."""
    now = timezone.now()
    if deed == "export":
        request_export(caller=caller, user_id=user_id, now=now)
        return "The export is being made; it can be downloaded below when it is done."
    if deed == "erase":
        request_erasure(caller=caller, user_id=user_id, now=now)
        return "Everything of the person is being erased; the receipt will stand below."
    if deed == "restrict":
        restrict_subject(caller=caller, user_id=user_id, reason="by an operator", now=now)
        return "The person's memory is kept and not used."
    lift_restriction(caller=caller, user_id=user_id, now=now)
    return "The person's memory is used again."


def _about(caller: Caller, user_id: str) -> dict[str, Any]:
    return {
        "summary": summary_of(caller=caller, user_id=user_id),
        "exports": exports_of(caller=caller, user_id=user_id, now=timezone.now()),
        "receipts": list_receipts(caller=caller, user_id=user_id, limit=NEWEST),
    }
