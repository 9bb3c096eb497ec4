"""The memory as a whole: its newest events, figures, and clean-up."""

from datetime import timedelta
from functools import partial

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.kaos import answers, schemas, serializers
from api.kaos.views import MOST_EVENTS, USUAL_EVENTS, KaosView, memory_of, narrow_of, whole_number
from api.parameters import OF_SESSION
from api.views import json_body, query_id, validated
from working import bounded_memory
from working.bounded_memory import CleanedMemory


class EventsView(KaosView):
    """`GET /memory/events`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="The newest events, one session after another",
        parameters=[*schemas.NARROW, schemas.LIMIT, OF_SESSION],
        responses=schemas.KaosEvents,
    )
    def get(self, request: Request) -> Response:
        memory, narrow, session_id = memory_of(request), narrow_of(request), query_id(request, "session_id")
        given = request.query_params.get("limit")
        asked = USUAL_EVENTS if given is None else whole_number(given, "limit", least=0)
        limit = min(asked or MOST_EVENTS, MOST_EVENTS)
        if session_id is None:
            newest = bounded_memory.newest_events(memory=memory, narrow=narrow, limit=limit)
            return Response(answers.events(memory, newest))
        found = bounded_memory.events_named(memory=memory, session_id=session_id, narrow=narrow, limit=limit)
        return Response(answers.events(memory, [(session_id, one) for one in found]))


class StatsView(KaosView):
    """`GET /memory/stats`"""

    scopes = {"GET": "read"}

    @extend_schema(summary="How much there is", parameters=schemas.NARROW, responses=schemas.KaosStats)
    def get(self, request: Request) -> Response:
        figures = bounded_memory.memory_figures(memory=memory_of(request), narrow=narrow_of(request))
        return Response(answers.stats(figures))


class CleanUpView(KaosView):
    """`POST /memory/cleanup`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Let go of sessions that nobody has used for so long",
        parameters=[schemas.X_AGENT],
        request=serializers.KaosCleanUp,
        responses=schemas.KaosCleaned,
    )
    def post(self, request: Request) -> Response:
        hours, now = validated(serializers.KaosCleanUp, json_body(request))["max_age_hours"], timezone.now()
        clean = partial(
            bounded_memory.clean_up,
            memory=memory_of(request),
            before=now - timedelta(hours=hours),
            now=now,
        )
        return once(request, CleanedMemory, clean, lambda done: Response({"removed": done.removed}))
