"""The operator's pages for tenants, keys and the audit log."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone

from tenants import audit
from tenants.api_keys import revoke_api_key
from tenants.models import ApiKey, AuditEntry, Tenant


def actor_of(request: HttpRequest) -> str:
    """Who is at the admin's pages, as the audit log names them."""
    return f"admin:{request.user.get_username() if isinstance(request.user, User) else 'unknown'}"


@admin.register(Tenant)
class TenantAdmin(admin.ModelAdmin):
    """Tenants are disabled here, not deleted: that would take their audit log along."""

    list_display = ("slug", "name", "created_at", "disabled_at")
    search_fields = ("slug", "name")

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
    """Keys are listed and revoked here; `manage.py create_api_key` makes them and shows the secret."""

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
    )
    list_filter = ("tenant",)
    search_fields = ("key_id", "name")
    exclude = ("secret_hash",)
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        """A key is revoked, which the audit log tells, and its row stays to say whose it was."""
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.delete_apikey")

    @admin.action(description="Revoke the selected keys", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.filter(revoked_at=None):
            revoke_api_key(key=key, actor=actor_of(request), now=timezone.now())


@admin.register(AuditEntry)
class AuditEntryAdmin(admin.ModelAdmin):
    list_display = ("at", "tenant", "actor", "action", "target")
    list_filter = ("tenant", "action")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
