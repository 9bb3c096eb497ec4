"""Sessions: their start, checkpoint, figures, and clearing."""

from datetime import timedelta
from functools import partial

from django.conf import settings
from django.http import HttpResponse, HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.entity_tags import named_versions
from api.idempotency import once
from api.native import schemas, serializers
from api.native.start_answers import started
from api.native.views import NativeView, session_address
from api.parsers import parse_json
from api.views import body_of, caller_of, json_body, named_user, validated
from recall.sessions import CleanedUp, clean_up_sessions
from recall.start import StartedSession, start_session
from tenants.errors import Invalid
from working.checkpoints import Precondition, Written, read_checkpoint, write_checkpoint
from working.listing import count_sessions
from working.types import SessionAddress

ANY_JSON = {"application/json": OpenApiTypes.ANY}


class StartView(NativeView):
    """`/api/v1/sessions/{session_id}/start`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Create or find a session, with what is known of its user",
        parameters=parameters.SESSION,
        request=serializers.StartSession,
        responses=schemas.StartedSession,
    )
    def post(self, request: Request, session_id: str) -> Response:
        body = validated(serializers.StartSession, json_body(request))
        caller, address = caller_of(request), session_address(request, session_id)
        user_id = named_user(request, body.get("user_id")) or caller.user_id
        if not user_id:
            raise Invalid("Name the user whose session begins.", "user_id")
        start = partial(
            start_session,
            caller=caller,
            address=SessionAddress(address.session_id, user_id, address.namespace),
            agent_id=body.get("agent_id"),
            query=body.get("query"),
            now=timezone.now(),
        )
        return once(request, StartedSession, start, lambda done: Response(started(done)))


class CheckpointView(NativeView):
    """`/api/v1/sessions/{session_id}/checkpoint`"""

    scopes = {"GET": "read", "PUT": "write"}

    @extend_schema(
        summary="Where the agent's loop stood, to the letter; `ETag` is its version",
        parameters=[*parameters.SESSION, parameters.IF_CHANGED],
        responses=OpenApiTypes.ANY,
    )
    def get(self, request: Request, session_id: str) -> HttpResponseBase:
        unchanged = named_versions(request, "If-None-Match", weak=True)
        version, value = read_checkpoint(
            caller=caller_of(request),
            address=session_address(request, session_id),
            now=timezone.now(),
            known=lambda one: unchanged is not None and (not unchanged or one in unchanged),
        )
        headers = {"ETag": f'"{version}"'}
        if value is None:
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(value, content_type="application/json", headers=headers)

    @extend_schema(
        summary="Keep where the agent's loop stands: any JSON",
        parameters=[*parameters.SESSION, parameters.IF_MATCH, parameters.IF_ABSENT],
        request=ANY_JSON,
        responses={200: schemas.WrittenCheckpoint, 201: schemas.WrittenCheckpoint},
    )
    def put(self, request: Request, session_id: str) -> Response:
        write = partial(
            write_checkpoint,
            caller=caller_of(request),
            address=session_address(request, session_id),
            value=_checked_json(request),
            only_if=_precondition(request),
            now=timezone.now(),
        )
        return once(request, Written, write, _written)


class StatsView(NativeView):
    """`/api/v1/sessions/stats`"""

    scopes = {"GET": "read"}

    @extend_schema(summary="How many sessions and events there are", responses=schemas.SessionStats)
    def get(self, request: Request) -> Response:
        found = count_sessions(caller=caller_of(request))
        return Response(
            {
                "total_sessions": found.sessions,
                "total_events": found.events,
                "avg_events_per_session": found.events // max(found.sessions, 1),
            }
        )


class CleanUpView(NativeView):
    """`/api/v1/sessions/cleanup`"""

    scopes = {"POST": "admin"}

    @extend_schema(
        summary="Delete sessions that nobody has used for so long, the oldest first, some hundred at once",
        request=serializers.CleanUp,
        responses=schemas.CleanedUp,
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.CleanUp, json_body(request))
        now = timezone.now()
        clean_up = partial(
            clean_up_sessions,
            caller=caller_of(request),
            unused_since=now - timedelta(hours=body["max_age_hours"]),
            now=now,
        )
        return once(request, CleanedUp, clean_up, lambda done: Response({"removed": done.removed}))


def _checked_json(request: Request) -> str:
    """The body's text, once it has proven to be JSON. Raises Invalid, TooLarge."""
    body = body_of(request, longest=settings.CHECKPOINT_MAX_BYTES)
    parse_json(body)
    return body.decode("utf-8-sig")


def _written(done: Written) -> Response:
    return Response(
        {"version": done.version, "updated_at": done.updated_at},
        status=201 if done.version == 1 else 200,
        headers={"ETag": f'"{done.version}"'},
    )


def _precondition(request: Request) -> Precondition:
    """What `If-Match` and `If-None-Match` ask of a write. The latter can only ask that there be nothing."""
    absent = named_versions(request, "If-None-Match", weak=True)
    if absent:
        raise Invalid("A write can only ask for *.", "If-None-Match")
    return Precondition(match=named_versions(request, "If-Match", weak=False), absent=absent is not None)
