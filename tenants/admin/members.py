"""Members of tenants."""

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from tenants.admin.base import actor_of
from tenants.admin.filters import TenantFilter
from tenants.members import add_member, change_role, remove_member
from tenants.models import Member


@admin.register(Member)
class MemberAdmin(admin.ModelAdmin):
    """Who may enter which tenant. A membership keeps its person and tenant; only the role changes."""

    list_display = ("user", "tenant", "role", "created_at")
    list_filter = ("role", TenantFilter)
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
