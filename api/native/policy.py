"""Policy: what a tenant or agent decides, its versions, and the way back."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.entity_tags import named_versions
from api.idempotency import once
from api.native import answers, schemas, serializers
from api.native.views import NativeView, page_size, whole_number
from api.views import caller_of, json_body, query_id, validated
from tenants.policy.document import policy_schema
from tenants.policy.versions import (
    Level,
    LevelPolicy,
    access_level,
    diff_versions,
    list_versions,
    read_level,
    rollback_policy,
    write_policy,
)

VERSION = {"type": "integer", "minimum": 0, "maximum": serializers.MOST_VERSIONS}
AGENT = OpenApiParameter(
    "agent_id", parameters.LONGEST, description="The agent whose policy is meant; else the tenant's."
)
CURSOR = OpenApiParameter(
    "cursor", VERSION, description="Only versions before this one: `next` of the answer before."
)
FROM = OpenApiParameter(
    "from", VERSION, description="By default the version before `to`; 0 is the empty one."
)
TO = OpenApiParameter("to", VERSION, description="By default the newest version.")
IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `ETag` that was read, or several; 412 when another version has come since.",
)


class PolicyView(NativeView):
    """`/api/v1/policy`"""

    scopes = {"GET": "read", "PATCH": "admin"}

    @extend_schema(summary="What is decided, and what holds", parameters=[AGENT], responses=schemas.Policy)
    def get(self, request: Request) -> Response:
        return _shown(read_level(level=_level(request)))

    @extend_schema(
        summary="Decide otherwise; null gives a field back",
        parameters=[IF_MATCH],
        request=serializers.PolicyChange,
        responses=schemas.Policy,
    )
    def patch(self, request: Request) -> Response:
        body = validated(serializers.PolicyChange, json_body(request))
        caller = caller_of(request)
        level = access_level(caller=caller, agent_id=body.get("agent_id"), to_change=True)
        matched = _matched(request)
        return once(
            request,
            LevelPolicy,
            lambda: write_policy(
                level=level,
                actor=caller.principal,
                changes=body["document"],
                expected_version=body.get("version"),
                match_versions=matched,
                note=body.get("note", ""),
            ),
            _shown,
        )


class VersionsView(NativeView):
    """`/api/v1/policy/versions`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="Its versions, newest first",
        parameters=[AGENT, parameters.LIMIT, CURSOR],
        responses=schemas.PolicyVersionPage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        before = whole_number(request, "cursor", None, minimum=0, maximum=serializers.MOST_VERSIONS)
        found = list_versions(level=_level(request), limit=limit + 1, before=before)
        following = str(found[limit - 1].version) if len(found) > limit else None
        return Response(
            {"results": [answers.policy_version(one) for one in found[:limit]], "next": following}
        )


class DiffView(NativeView):
    """`/api/v1/policy/diff`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="Where two versions differ", parameters=[AGENT, FROM, TO], responses=schemas.PolicyDiff
    )
    def get(self, request: Request) -> Response:
        before, after, differences = diff_versions(
            level=_level(request),
            from_version=whole_number(request, "from", None, minimum=0, maximum=serializers.MOST_VERSIONS),
            to_version=whole_number(request, "to", None, minimum=0, maximum=serializers.MOST_VERSIONS),
        )
        changes = [{"field": one.field, "before": one.before, "after": one.after} for one in differences]
        return Response({"from_version": before, "to_version": after, "changes": changes})


class RollbackView(NativeView):
    """`/api/v1/policy/rollback`"""

    scopes = {"POST": "admin"}

    @extend_schema(
        summary="Add a version with the document of an old one",
        parameters=[IF_MATCH],
        request=serializers.PolicyRollback,
        responses=schemas.Policy,
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.PolicyRollback, json_body(request))
        caller = caller_of(request)
        level = access_level(caller=caller, agent_id=body.get("agent_id"), to_change=True)
        matched = _matched(request)
        return once(
            request,
            LevelPolicy,
            lambda: rollback_policy(
                level=level,
                actor=caller.principal,
                to_version=body["to"],
                expected_version=body.get("version"),
                match_versions=matched,
                note=body.get("note", ""),
            ),
            _shown,
        )


class SchemaView(NativeView):
    """`/api/v1/policy/schema`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="JSON schema of the document, with this deployment's defaults",
        responses={200: {"type": "object", "additionalProperties": True}},
    )
    def get(self, request: Request) -> Response:
        return Response(policy_schema())


def _level(request: Request) -> Level:
    return access_level(caller=caller_of(request), agent_id=query_id(request, "agent_id"))


def _shown(policy: LevelPolicy) -> Response:
    return Response(answers.policy(policy), headers={"ETag": f'"{policy.version}"'})


def _matched(request: Request) -> frozenset[int] | None:
    """The versions that `If-Match` names; None: whatever is newest, which is always one."""
    return named_versions(request, "If-Match", weak=False) or None
