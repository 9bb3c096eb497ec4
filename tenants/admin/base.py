"""What the operator's pages have in common: who is at them, rows to look at, pages that ask before a deed."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpRequest
from django.template.response import TemplateResponse

from tenants.caller import Caller
from tenants.models import Tenant

CONFIRMED = "confirmed"  # the field by which a page that asked says yes


def actor_of(request: HttpRequest) -> str:
    """Who is at the admin's pages, as the audit log names them."""
    return f"admin:{request.user.get_username() if isinstance(request.user, User) else 'unknown'}"


def caller_at(request: HttpRequest, tenant: Tenant) -> Caller:
    """The operator, as one who may do anything in the tenant."""
    return Caller(
        tenant_id=tenant.id,
        tenant=tenant.slug,
        key_id=request.user.get_username(),
        scopes=frozenset({"admin"}),
        kind="admin",
    )


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows that are looked at here, and made elsewhere."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def page(
    of: admin.ModelAdmin,
    request: HttpRequest,
    template: str,
    *,
    title: str,
    status: int = 200,
    **context: Any,
) -> TemplateResponse:
    """A page of the admin's beside those that Django makes."""
    whole = {**of.admin_site.each_context(request), "opts": of.opts, "title": title, **context}
    return TemplateResponse(request, f"admin/tenants/{template}.html", whole, status=status)


def asking(
    of: admin.ModelAdmin,
    request: HttpRequest,
    *,
    title: str,
    told: Sequence[str],
    button: str,
    rows: Sequence[tuple[object, object]] = (),
    form: Form | None = None,
    back: str = "",
    **context: Any,
) -> TemplateResponse:
    """What is about to happen, in sentences and rows of a table, and a button that does it. For an action on
    rows of a list, the answer comes back to that list with the same rows chosen."""
    chosen = [
        (name, value)
        for name in ("action", "select_across", "_selected_action")
        for value in request.POST.getlist(name)
    ]
    return page(
        of, request, "asking", title=title, told=told, button=button, rows=rows, form=form, hidden=chosen,
        back=back, **context,
    )  # fmt: skip


def is_confirmed(request: HttpRequest) -> bool:
    """Whether it is the answer to such a page."""
    return request.method == "POST" and request.POST.get(CONFIRMED) == "yes"
