"""Rows that are only looked at: the audit log, spending, what other commands and the API write."""

from django.contrib import admin

from tenants.admin.base import ReadOnlyAdmin
from tenants.admin.filters import TenantFilter
from tenants.models import Agent, AuditEntry, ProviderUsage, Restriction, TenantEmbedding
from tenants.usage import is_priced


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    """Nobody can change or remove an entry, not even the admin role."""

    list_display = ("at", "tenant", "actor", "action", "target")
    list_filter = (TenantFilter, "action")
    search_fields = ("actor", "target")
    ordering = ("-at",)
    show_full_result_count = False


@admin.register(ProviderUsage)
class ProviderUsageAdmin(ReadOnlyAdmin):
    """What tenants spent at outside providers, day by day."""

    list_display = (
        "day", "tenant", "provider", "model", "purpose", "calls", "failures", "input_tokens", "output_tokens",
        "cost",
    )  # fmt: skip
    list_filter = (TenantFilter, "provider", "model", "purpose")
    date_hierarchy = "day"
    ordering = ("-day", "tenant", "model", "purpose")

    @admin.display(description="cost in US dollars", ordering="cost_micros", empty_value="no price known")
    def cost(self, obj: ProviderUsage) -> str | None:
        return f"{obj.cost_micros / 1_000_000:.6f}" if is_priced(obj.model) else None


@admin.register(TenantEmbedding)
class TenantEmbeddingAdmin(ReadOnlyAdmin):
    """`manage.py reembed` writes them."""

    list_display = ("tenant", "model", "other", "is_switched", "changed_at", "missing")
    ordering = ("tenant",)


@admin.register(Agent)
class AgentAdmin(ReadOnlyAdmin):
    """`manage.py apply_agent` and the API write them."""

    list_display = ("name", "tenant", "project", "version", "updated_at")
    list_filter = (TenantFilter,)
    search_fields = ("name", "project")
    ordering = ("tenant", "name")


@admin.register(Restriction)
class RestrictionAdmin(ReadOnlyAdmin):
    """Whose memory is kept and not used; a person's page, below the tenant, lifts it."""

    list_display = ("since", "tenant", "user_id", "requested_by", "reason")
    list_filter = (TenantFilter,)
    search_fields = ("user_id",)
    ordering = ("-since",)
