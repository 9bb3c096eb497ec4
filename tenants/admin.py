"""The operator's pages for tenants, keys and the audit log."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join

from tenants import audit
from tenants.api_keys import revoke_api_key, rotate_api_key
from tenants.errors import DomainError
from tenants.jobs.queue import replay_all
from tenants.members import add_member, change_role, remove_member
from tenants.models import (
    Agent,
    ApiKey,
    AuditEntry,
    Job,
    Member,
    PolicyVersion,
    ProviderUsage,
    Tenant,
    Tombstone,
)
from tenants.usage import is_priced

OVERLAP_SECONDS = 86_400
admin.site.site_header = admin.site.site_title = "Strata"
admin.site.index_title = "Tenants and who may reach them"


def actor_of(request: HttpRequest) -> str:
    """Who is at the admin's pages, as the audit log names them."""
    return f"admin:{request.user.get_username() if isinstance(request.user, User) else 'unknown'}"


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows that are looked at here, and made elsewhere."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Tenant)
class TenantAdmin(admin.ModelAdmin):
    """Tenants are disabled here, not deleted: that would take their audit log along."""

    list_display = ("slug", "name", "created_at", "disabled_at")
    search_fields = ("slug", "name")
    readonly_fields = ("members",)

    def members(self, obj: Tenant) -> str:
        """Who may enter it; the names lead to the pages where that is changed."""
        rows = Member.objects.filter(tenant=obj).select_related("user").order_by("user__username")
        shown = (
            (reverse("admin:tenants_member_change", args=[row.id]), row.user, row.get_role_display())
            for row in rows
        )
        return format_html_join("", '<div><a href="{}">{}</a>: {}</div>', shown) or "-"

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


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):
    """Keys are listed, rotated and revoked here; `manage.py create_api_key` makes them."""

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
    list_filter = ("tenant",)
    search_fields = ("key_id", "name")
    exclude = ("secret_hash",)
    actions = ("rotate", "revoke")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A key is revoked, which the audit log tells, and its row stays to say whose it was."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.delete_apikey")

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perms(["tenants.add_apikey", "tenants.delete_apikey"])

    @admin.action(description="Rotate the selected key (the old one works for a day)", permissions=["rotate"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        """One at a time: the message with the new key travels in a signed cookie that only few of them fit,
        and what does not fit would be written to the database."""
        keys = list(queryset[:2])
        if len(keys) != 1:
            self.message_user(request, "Select one key to rotate.", messages.ERROR)
            return
        try:
            _key, text = rotate_api_key(
                key=keys[0],
                actor=actor_of(request),
                overlap_seconds=OVERLAP_SECONDS,
                now=timezone.now(),
            )
        except DomainError as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        self.message_user(request, f"The new key, shown this once: {text}", messages.WARNING)

    @admin.action(description="Revoke the selected keys", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.filter(revoked_at=None):
            revoke_api_key(key=key, actor=actor_of(request), now=timezone.now())


@admin.register(Member)
class MemberAdmin(admin.ModelAdmin):
    """Who may enter which tenant. A membership keeps its person and tenant; only the role changes."""

    list_display = ("user", "tenant", "role", "created_at")
    list_filter = ("role", "tenant")
    list_select_related = ("user", "tenant")
    search_fields = ("user__username", "tenant__slug")
    fields = ("tenant", "user", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Member | None = None) -> tuple[str, ...]:
        return ("tenant", "user") if obj else ()

    def save_model(self, request: HttpRequest, obj: Member, form: ModelForm, change: bool) -> None:
        if change:
            change_role(member=obj, role=obj.role, actor=actor_of(request))
            return
        made = add_member(tenant=obj.tenant, user=obj.user, role=obj.role, actor=actor_of(request))
        obj.id = made.id

    def delete_model(self, request: HttpRequest, obj: Member) -> None:
        remove_member(member=obj, actor=actor_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Member]) -> None:
        for member in queryset:
            remove_member(member=member, actor=actor_of(request))


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "tenant", "actor", "action", "target")
    list_filter = ("tenant", "action")


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Jobs are looked at here; failed ones, the dead letters, are put back into the queue."""

    list_display = ("id", "tenant", "kind", "state", "attempts", "error", "run_at", "created_at")
    list_filter = ("state", "kind", "tenant")
    list_select_related = ("tenant",)
    ordering = ("-id",)
    show_full_result_count = False  # counting millions would take longer than showing a page
    actions = ("replay",)

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_job")

    @admin.action(description="Replay the selected failed jobs", permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        chosen: dict[UUID, list[UUID]] = {}
        for tenant_id, job_id in queryset.order_by().values_list("tenant_id", "id"):
            chosen.setdefault(tenant_id, []).append(job_id)
        replayed = sum(
            replay_all(tenant_id=tenant_id, actor=actor_of(request), job_ids=ids)
            for tenant_id, ids in chosen.items()
        )
        self.message_user(request, f"{replayed} jobs are back in the queue.")


@admin.register(ProviderUsage)
class ProviderUsageAdmin(ReadOnlyAdmin):
    """What tenants spent at outside providers, day by day."""

    list_display = (
        "day", "tenant", "provider", "model", "purpose", "calls", "failures", "input_tokens", "output_tokens",
        "cost",
    )  # fmt: skip
    list_filter = ("tenant", "provider", "model", "purpose")
    date_hierarchy = "day"
    ordering = ("-day", "tenant", "model", "purpose")

    @admin.display(description="cost in US dollars", ordering="cost_micros", empty_value="no price known")
    def cost(self, obj: ProviderUsage) -> str | None:
        return f"{obj.cost_micros / 1_000_000:.6f}" if is_priced(obj.model) else None


@admin.register(PolicyVersion)
class PolicyVersionAdmin(ReadOnlyAdmin):
    """`manage.py policy` and the API write them."""

    list_display = ("created_at", "tenant", "agent_id", "version", "author", "note")
    list_filter = ("tenant",)
    search_fields = ("agent_id",)
    ordering = ("-created_at",)


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    """`manage.py apply_agent` and the API write them."""

    list_display = ("name", "tenant", "project", "version", "updated_at")
    list_filter = ("tenant",)
    search_fields = ("name", "project")
    ordering = ("tenant", "name")


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin):
    """The receipts of erasures; whose they are, only who knows the person's id can tell."""

    list_display = ("erased_at", "tenant", "subject", "requested_by", "completed_at")
    list_filter = ("tenant",)
    search_fields = ("subject",)
    ordering = ("-erased_at",)
