"""The audit log."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.native import privacy_schemas
from api.native.cursors import page, position_of
from api.native.views import NativeView, page_size
from api.views import caller_of, query_id
from tenants.audit import list_entries
from tenants.models import AuditEntry

ACTION = OpenApiParameter("action", str, description="Only this, such as `subject.erase`.")
ACTOR = OpenApiParameter("actor", str, description="Only by this caller, such as `key:<key id>`.")
SUBJECT = OpenApiParameter("user_id", str, description="Only what was done to this person, or by them.")


class AuditView(NativeView):
    """`/api/v1/audit`"""

    scopes = {"GET": "privacy"}

    @extend_schema(
        operation_id="audit_list",
        summary="The audit log, newest first",
        parameters=[*parameters.LIST, ACTION, ACTOR, SUBJECT],
        responses=privacy_schemas.AuditPage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        found = list_entries(
            caller=caller_of(request),
            limit=limit + 1,
            before=position_of(request),
            action=query_id(request, "action"),
            actor=query_id(request, "actor"),
            subject=query_id(request, "user_id"),
        )
        return Response(page(found, limit, moment=lambda one: one.at, show=_shown))


def _shown(one: AuditEntry) -> dict[str, Any]:
    return {
        "id": one.id,
        "at": one.at,
        "actor": one.actor,
        "action": one.action,
        "target": one.target,
        "details": one.details,
    }
