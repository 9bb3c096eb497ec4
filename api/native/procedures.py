"""Procedures: what agents read and never write."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.native import procedure_schemas as schemas
from api.native.views import NativeView, page_size
from api.parsers import mend_text
from api.permissions import HasScope
from api.views import caller_of, checked_id, query_id
from knowledge.models import Procedure
from knowledge.procedures import access_procedure, agents_of, list_procedures, refuse_write

WRITES = ("POST", "PUT", "PATCH", "DELETE")
ENVIRONMENT = OpenApiParameter(
    "environment", parameters.LONGEST, description="Which one's; by default the server's own."
)
VERSION = OpenApiParameter(
    "version", parameters.LONGEST, description="This one; by default the one that the environment runs."
)
AFTER = OpenApiParameter(
    "cursor", parameters.LONGEST, description="Only those behind this name: `next` of the answer before."
)


class ReadOnly(HasScope):
    """Refuses every write, whatever the key may do, and has it entered into the audit log."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.method in WRITES:
            name = mend_text(str(view.kwargs.get("name", "")))
            refuse_write(caller=caller_of(request), name=name, method=str(request.method))
        return super().has_permission(request, view)


class ProceduresView(NativeView):
    """`/api/v1/procedures`"""

    scopes = {"GET": "read"}
    permission_classes = [ReadOnly]

    @extend_schema(
        operation_id="procedures_list",
        summary="What an environment runs, by name",
        parameters=[parameters.LIMIT, AFTER, ENVIRONMENT],
        responses=schemas.ProcedurePage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        found = list_procedures(
            caller=caller_of(request),
            environment=query_id(request, "environment"),
            limit=limit + 1,
            after=query_id(request, "cursor"),
        )
        following = found[limit - 1].name if len(found) > limit else None
        return Response({"results": [_shown(one) for one in found[:limit]], "next": following})


class ProcedureView(NativeView):
    """`/api/v1/procedures/{name}`"""

    scopes = {"GET": "read"}
    permission_classes = [ReadOnly]

    @extend_schema(
        summary="A procedure: what the environment runs, or a version of it",
        parameters=[VERSION, ENVIRONMENT],
        responses=schemas.DeployedProcedure,
    )
    def get(self, request: Request, name: str) -> Response:
        found = access_procedure(
            caller=caller_of(request),
            name=checked_id(name, "name"),
            version=query_id(request, "version"),
            environment=query_id(request, "environment"),
        )
        return Response(_shown(found))


def _shown(one: Procedure) -> dict[str, Any]:
    deployment = one.deployment
    return {
        "name": one.name,
        "version": one.version,
        "environment": deployment.environment if deployment else None,
        "body": one.body,
        "checksum": one.checksum,
        "agents": agents_of(one),
        "metadata": one.metadata,
        "created_by": one.created_by,
        "created_at": one.created_at,
        "deployed_by": deployment.deployed_by if deployment else None,
        "deployed_at": deployment.deployed_at if deployment else None,
    }
