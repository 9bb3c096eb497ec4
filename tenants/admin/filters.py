"""What lists of the admin are narrowed by."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import PAGE_VAR, ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from tenants.models import Tenant

SUGGESTED = 20  # tenants that are offered to choose from


class TenantFilter(admin.SimpleListFilter):
    """By the tenant's slug, typed in: a link for each is too long a list where there are thousands."""

    title = "tenant"
    parameter_name = "tenant"
    template = "admin/tenants/tenant_filter.html"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        """The first few, as suggestions."""
        slugs = Tenant.objects.order_by("slug").values_list("slug", flat=True)[:SUGGESTED]
        return [(slug, slug) for slug in slugs]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """One, for the template: what was typed, what to suggest, and what else the list is narrowed by."""
        own = (self.parameter_name, PAGE_VAR)
        yield {
            "value": self.value() or "",
            "suggested": [slug for slug, _title in self.lookup_choices],
            "others": [(name, value) for name, value in changelist.params.items() if name not in own],
            "without": changelist.get_query_string(remove=list(own)),
        }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        slug = (self.value() or "").strip()
        if "\0" in slug:
            return queryset.none()
        return queryset.filter(tenant__slug=slug) if slug else queryset

    def get_facet_counts(self, pk_attname: str, filtered_qs: QuerySet[Model]) -> dict[str, Any]:
        """None: how many rows each tenant has would be counted for the few suggested."""
        return {}
