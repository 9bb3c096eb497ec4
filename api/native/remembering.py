"""What a turn leaves in memory."""

from functools import partial

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import remember_schemas as schemas
from api.native.views import NativeView
from api.views import caller_of, json_body, named_user, query_id, validated
from recall.remember.remember import Remembered, Written, remember
from working.types import SessionAddress


class RememberView(NativeView):
    """`POST /api/v1/remember`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Remember what is worth it of a turn",
        parameters=parameters.USER_OR_NAMESPACE,
        request=schemas.RememberBody,
        responses=schemas.Remembered,
    )
    def post(self, request: Request) -> Response:
        body = validated(schemas.RememberBody, json_body(request))
        address = SessionAddress(
            body["session_id"], named_user(request, body.get("user_id")), query_id(request, "namespace")
        )
        write = partial(
            remember,
            caller=caller_of(request),
            address=address,
            user_message=body["user_message"],
            assistant_message=body.get("assistant_message"),
            agent_id=body.get("agent_id"),
            now=timezone.now(),
        )
        return once(request, Remembered, write, _remembered)


def _remembered(done: Remembered) -> Response:
    return Response(
        {
            "written": [_written(one) for one in done.written],
            "skipped": [{"text": one.text, "reason": one.reason} for one in done.skipped],
            "extractor": done.extractor,
        }
    )


def _written(one: Written) -> dict[str, str]:
    shown = {"kind": one.kind, "id": str(one.id), "text": one.text}
    return shown | {"key": one.key} if one.key else shown
