"""A person's memory kept and not used, and what is wrong in it put right."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.native import answers, schemas
from api.native.restriction_schemas import Rectify, Restrict, RestrictionState, SubjectMemory
from api.native.views import NativeView
from api.views import caller_of, checked_id, json_body, validated
from recall import subjects
from tenants.models import Job
from tenants.restrictions import Lifted, lift_restriction, restrict_subject, restriction_of


class RestrictView(NativeView):
    """`/api/v1/subjects/{user_id}/restrict`"""

    scopes = {"GET": "privacy", "POST": "privacy", "DELETE": "privacy"}

    @extend_schema(summary="Whether a person's memory is restricted", responses=RestrictionState)
    def get(self, request: Request, user_id: str) -> Response:
        named = checked_id(user_id, "user_id")
        found = restriction_of(caller=caller_of(request), user_id=named)
        names = ("since", "reason", "requested_by")
        return Response(
            {"restricted": found is not None, **{one: getattr(found, one, None) for one in names}}
        )

    @extend_schema(
        summary="Keep a person's memory without using it: nothing of it is read, changed or added to",
        request=Restrict,
        responses={202: schemas.Job},
    )
    def post(self, request: Request, user_id: str) -> Response:
        body = json_body(request)
        restrict = partial(
            restrict_subject,
            caller=caller_of(request),
            user_id=checked_id(user_id, "user_id"),
            reason=validated(Restrict, {} if body is None else body)["reason"],
            now=timezone.now(),
        )
        return once(request, Job, restrict, _done)

    @extend_schema(summary="Have a person's memory used again", responses={204: None})
    def delete(self, request: Request, user_id: str) -> Response:
        lift = partial(
            lift_restriction,
            caller=caller_of(request),
            user_id=checked_id(user_id, "user_id"),
            now=timezone.now(),
        )
        return once(request, Lifted, lift, lambda _done: Response(status=204))


class RectifyView(NativeView):
    """`/api/v1/subjects/{user_id}/rectify`"""

    scopes = {"POST": "privacy"}

    @extend_schema(
        summary="Put right what a memory says; what it said before stays in its history",
        request=Rectify,
        responses=SubjectMemory,
    )
    def post(self, request: Request, user_id: str) -> Response:
        rectify = partial(
            subjects.rectify_memory,
            caller=caller_of(request),
            user_id=checked_id(user_id, "user_id"),
            **validated(Rectify, json_body(request)),
            now=timezone.now(),
        )
        return once(request, object, rectify, _rectified)


def _done(job: Job) -> Response:
    return Response(answers.job(job), status=202, headers={"Location": f"/api/v1/jobs/{job.id}"})


def _rectified(done: Any) -> Response:
    one = done if isinstance(done, subjects.Remembered) else subjects.remembered(done)
    shown = {
        "kind": one.kind,
        "id": one.id,
        "text": one.text,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
        "session_id": one.session or None,
        "agent_id": one.agent or None,
        "is_pinned": one.is_pinned,
        "status": one.status,
        "key": one.key or None,
    }
    return Response(shown)
