"""Jobs, and what people have asked for: exports and erasures, with the receipts of those."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path

from tenants.admin.base import ReadOnlyAdmin, actor_of, asking, caller_at, is_confirmed, page
from tenants.admin.filters import TenantFilter
from tenants.errors import Conflict
from tenants.jobs.dead_letters import count_dead, drop_dead
from tenants.jobs.queue import replay_all
from tenants.models import Job, JobState, Tenant, Tombstone
from tenants.privacy import erasure, export
from tenants.privacy.receipts import is_genuine, plain


class RequestFilter(admin.SimpleListFilter):
    """What people have asked for, among all other work."""

    title = "request"
    parameter_name = "request"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin) -> list[tuple[str, str]]:
        return [(export.KIND, "export of a person"), (erasure.KIND, "erasure of a person")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Job]) -> QuerySet[Job]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """Jobs are looked at here; failed ones, the dead letters, are put back into the queue or given up. An
    erasure is owed to a person, so it is never given up."""

    list_display = ("id", "tenant", "kind", "state", "attempts", "error", "run_at", "created_at")
    list_filter = ("state", RequestFilter, "kind", TenantFilter)
    list_select_related = ("tenant",)
    ordering = ("-id",)
    show_full_result_count = False  # counting millions would take longer than showing a page
    actions = ("replay", "give_up")

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.change_job")

    def has_give_up_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tenants.delete_job")

    @admin.action(description="Replay the selected failed jobs", permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        replayed = sum(
            replay_all(tenant_id=tenant_id, actor=actor_of(request), job_ids=ids)
            for tenant_id, ids in _by_tenant(queryset).items()
        )
        self.message_user(request, f"{replayed} jobs are back in the queue.")

    @admin.action(description="Give up the selected failed jobs", permissions=["give_up"])
    def give_up(self, request: HttpRequest, queryset: QuerySet[Job]) -> HttpResponse | None:
        chosen = _by_tenant(queryset.filter(state=JobState.FAILED))
        callers = [
            (caller_at(request, one), chosen[one.id]) for one in Tenant.objects.filter(id__in=list(chosen))
        ]
        if not is_confirmed(request):
            rows = [
                (f"{caller.tenant}, {kind}", count)
                for caller, ids in callers
                for kind, count in count_dead(caller=caller, job_ids=ids).items()
            ]
            told = [
                "What they were to do is never done, and the jobs are deleted. This cannot be undone.",
                "Jobs that have not failed stay, and so do erasures: these are owed to a person.",
            ]
            return asking(
                self,
                request,
                title="Give up failed jobs",
                told=told,
                button="Give up",
                rows=rows,
                is_dangerous=True,
            )
        dropped = 0
        for caller, ids in callers:
            try:
                dropped += drop_dead(caller=caller, job_ids=ids)
            except Conflict as error:
                self.message_user(request, str(error), messages.ERROR)
        self.message_user(request, f"{dropped} jobs are given up.")
        return None


@admin.register(Tombstone)
class TombstoneAdmin(ReadOnlyAdmin):
    """The receipts of erasures; whose they are, only who knows the person's id can tell."""

    list_display = ("erased_at", "tenant", "subject", "requested_by", "completed_at")
    list_filter = (TenantFilter,)
    list_select_related = ("tenant",)
    search_fields = ("subject",)
    ordering = ("-erased_at",)

    def get_urls(self) -> list[URLPattern]:
        download = self.admin_site.admin_view(self.download_view)
        named = path("<uuid:row_id>/receipt.json", download, name="tenants_tombstone_download")
        return [named, *super().get_urls()]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """To read: what was deleted from where, and whether the signature holds."""
        one = self._access(request, object_id)
        receipt: Mapping[str, Any] = one.receipt
        digests = receipt.get("digests") or {}
        erased = (receipt.get("erased") or {}).items()
        return page(
            self, request, "tombstone/receipt", title="Receipt of an erasure", one=one,
            is_genuine=is_genuine(one.receipt), residue=receipt.get("residue"),
            erased=[(name, count, digests.get(name, "")) for name, count in erased if count],
            untouched=[name for name, count in erased if not count],
        )  # fmt: skip

    def download_view(self, request: HttpRequest, row_id: UUID) -> HttpResponse:
        """As `manage.py verify_receipt` takes it."""
        one = self._access(request, str(row_id))
        text = json.dumps(one.receipt, indent=2, ensure_ascii=False, default=plain)
        answer = HttpResponse(text, content_type="application/json")
        answer.headers["Content-Disposition"] = f'attachment; filename="receipt-{one.id}.json"'
        return answer

    def _access(self, request: HttpRequest, object_id: str) -> Tombstone:
        one: Tombstone | None = self.get_object(request, object_id)
        if not self.has_view_permission(request, one):
            raise PermissionDenied
        return one if one is not None else get_object_or_404(Tombstone, id=None)


def _by_tenant(queryset: QuerySet[Job]) -> dict[UUID, list[UUID]]:
    chosen: dict[UUID, list[UUID]] = {}
    for tenant_id, job_id in queryset.order_by().values_list("tenant_id", "id"):
        chosen.setdefault(tenant_id, []).append(job_id)
    return chosen
