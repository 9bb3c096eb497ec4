"""What was thought of memories, and the log of what sessions were told."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import feedback_schemas as schemas
from api.native.cursors import page, position_of
from api.native.moments import moment_of
from api.native.views import NativeView, page_size
from api.views import caller_of, json_body, query_id, validated
from ledger.feedback import FeedbackFilter, list_feedback
from ledger.listing import InjectionFilter, list_injections
from ledger.models import Feedback, Injection
from recall.feedback import KINDS, NewFeedback, give_feedback
from tenants.errors import Invalid

KIND = OpenApiParameter("kind", str, enum=KINDS, description="Only about memories of this kind.")
MEMORY = OpenApiParameter("memory_id", str, description="Only about this memory.")
VERDICT = OpenApiParameter(
    "verdict", str, enum=Feedback.Verdict.values, description="Only with this verdict."
)
SINCE = OpenApiParameter("since", datetime, description="Only since this moment.")
ITEM_KIND = OpenApiParameter(
    "kind", str, description="Only items of this kind, which stands before the colon of their key."
)
PREFIX = OpenApiParameter("prefix", str, description="Only items whose key begins so.")


class FeedbackView(NativeView):
    """`/api/v1/feedback`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        summary="What was thought of memories, newest first",
        parameters=[
            *parameters.LIST, parameters.USER, parameters.OF_SESSION, KIND, MEMORY, VERDICT, SINCE,
        ],
        responses=schemas.FeedbackPage,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        where = FeedbackFilter(
            user_id=query_id(request, "user_id"),
            session_id=query_id(request, "session_id"),
            kind=_one_of(KINDS, query_id(request, "kind"), "kind"),
            memory_id=query_id(request, "memory_id"),
            verdict=_one_of(Feedback.Verdict.values, query_id(request, "verdict"), "verdict"),
            since=moment_of(query_id(request, "since"), "since"),
        )
        found = list_feedback(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(page(found, limit, moment=_created_at, show=_verdict))

    @extend_schema(
        summary="Say whether a memory that was recalled served",
        request=schemas.FeedbackBody,
        responses={201: schemas.Feedback},
    )
    def post(self, request: Request) -> Response:
        body = validated(schemas.FeedbackBody, json_body(request))
        new = NewFeedback(
            verdict=body["verdict"],
            note=body.get("note") or "",
            injection_id=body.get("injection_id"),
            kind=body.get("kind"),
            memory_id=body.get("memory_id"),
            session_id=body.get("session_id") or "",
        )
        return once(
            request,
            Feedback,
            lambda: give_feedback(caller=caller_of(request), new=new, now=timezone.now()),
            lambda kept: Response(_verdict(kept), status=201),
        )


class InjectionsView(NativeView):
    """`/api/v1/injections`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="What sessions were told, newest first",
        parameters=[
            *parameters.LIST, parameters.USER, parameters.OF_SESSION, parameters.NAMESPACE, ITEM_KIND, PREFIX,
            SINCE,
        ],
        responses=schemas.InjectionPage,
    )  # fmt: skip
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        where = InjectionFilter(
            user_id=query_id(request, "user_id"),
            session_id=query_id(request, "session_id"),
            namespace=query_id(request, "namespace"),
            kind=query_id(request, "kind"),
            prefix=query_id(request, "prefix"),
            since=moment_of(query_id(request, "since"), "since"),
        )
        found = list_injections(
            caller=caller_of(request), where=where, limit=limit + 1, before=position_of(request)
        )
        return Response(page(found, limit, moment=_marked_at, show=_injection))


def _one_of(known: Collection[str], value: str | None, field: str) -> str | None:
    if value is not None and value not in known:
        raise Invalid(f"Must be one of {', '.join(known)}.", field)
    return value


def _created_at(one: Feedback) -> datetime:
    return one.created_at


def _marked_at(one: Injection) -> datetime:
    return one.marked_at


def _verdict(one: Feedback) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "memory_id": one.memory_id,
        "injection_id": one.injection_id,
        "session_id": one.session or None,
        "user_id": one.user_id or None,
        "agent_id": one.agent_id or None,
        "verdict": one.verdict,
        "note": one.note or None,
        "judge": one.judge,
        "created_at": one.created_at,
    }


def _injection(one: Injection) -> dict[str, Any]:
    return {
        "id": one.id,
        "item_key": one.item_key,
        "kind": one.item_key.partition(":")[0],
        "value": one.value,
        "session_id": one.session,
        "namespace": one.namespace,
        "user_id": one.user_id or None,
        "rank": one.rank,
        "score": one.score,
        "why": one.why or None,
        "marked_at": one.marked_at,
        "released_at": one.released_at,
    }
