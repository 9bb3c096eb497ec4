"""The operator's pages for tenants, keys and the audit log."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from tenants.api_keys import revoke_api_key
from tenants.models import ApiKey, AuditEntry, Tenant


@admin.register(Tenant)
class TenantAdmin(admin.ModelAdmin):
    list_display = ("slug", "name", "created_at", "disabled_at")
    search_fields = ("slug", "name")


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

    @admin.action(description="Revoke the selected keys", permissions=["delete"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        actor = request.user.get_username() if isinstance(request.user, User) else "admin"
        for key in queryset.filter(revoked_at=None):
            revoke_api_key(key=key, actor=f"admin:{actor}", now=timezone.now())


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
