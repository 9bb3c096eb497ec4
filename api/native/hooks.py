"""Tool hooks: what a runtime reports after a tool's call, and asks before one."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.native import hook_schemas
from api.native.views import NativeView
from api.views import caller_of, json_body, validated
from recall.context import LONGEST_CONTENT
from recall.hooks.captions import shorten
from recall.hooks.lookups import LookedUp, look_up
from recall.hooks.results import RecordedResult, record_result
from recall.hooks.rules import ToolResult
from working.types import SessionAddress

FREE_TEXTS = frozenset({"args", "error", "output"})  # of tools, which may be binary


class ToolResultView(NativeView):
    """`/api/v1/hooks/tool-result`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Save a tool's result as the agent's rules say",
        request=hook_schemas.ToolResultBody,
        responses=hook_schemas.RecordedResult,
    )
    def post(self, request: Request) -> Response:
        body = validated(hook_schemas.ToolResultBody, json_body(request, mending=FREE_TEXTS))
        record = partial(
            record_result,
            caller=caller_of(request),
            agent=body["agent"],
            address=SessionAddress(body["session_id"], body.get("user_id")),
            result=_result(body),
            now=timezone.now(),
        )
        return once(request, RecordedResult, record, _recorded)


class BeforeToolView(NativeView):
    """`/api/v1/hooks/before-tool`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Look up what the agent's memory says of a tool's call",
        request=hook_schemas.BeforeToolBody,
        responses=hook_schemas.LookedUp,
    )
    def post(self, request: Request) -> Response:
        body = validated(hook_schemas.BeforeToolBody, json_body(request, mending=FREE_TEXTS))
        search = partial(
            look_up,
            caller=caller_of(request),
            agent=body["agent"],
            session_id=body.get("session_id"),
            user_id=body.get("user_id"),
            tool=body["tool"],
            args=body["args"] or {},
            now=timezone.now(),
        )
        return once(request, LookedUp, search, _looked_up)


def _result(body: dict[str, Any]) -> ToolResult:
    return ToolResult(
        tool=body["tool"],
        args=body["args"] or {},
        output=body.get("output") or "",
        error=body.get("error") or "",
        duration_ms=body.get("duration_ms"),
    )


def _recorded(done: RecordedResult) -> Response:
    saved = [
        {
            "observation_id": one.saved.observation.id,
            "action": one.saved.action,
            "type": one.saved.observation.type,
            "title": one.saved.observation.title,
            "rule": one.place,
        }
        for one in done.captured
    ]
    skipped = [{"rule": one.place, "tool": one.rule.tool, "reason": one.refusal} for one in done.skipped]
    return Response({"saved": saved, "skipped": skipped})


def _looked_up(done: LookedUp) -> Response:
    memories = [
        {
            "id": hit.observation.id,
            "type": hit.observation.type,
            "title": hit.observation.title,
            "content": shorten(hit.observation.content, LONGEST_CONTENT),
            "rank": hit.rank,
            "method": hit.method,
            "query": query,
        }
        for hit, query in done.memories()
    ]
    return Response({"memories": memories})
