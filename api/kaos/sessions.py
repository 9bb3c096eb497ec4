"""Sessions of the memory, and their events."""

from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.kaos import answers, schemas, serializers
from api.kaos.views import KaosView, known_id, memory_of, narrow_of, whole_number
from api.parameters import EVENT_TYPES
from api.views import event_types, json_body, named_user, query_id, validated
from recall.bounded_memory import Added, add_events, delete_known, refuse_others
from recall.sessions import DeletedSession
from tenants.errors import NotFound
from working import bounded_memory
from working.bounded_memory import Begun, BoundedMemory
from working.events import role_of
from working.models import Session
from working.types import NewEvent, SessionAddress


class SessionsView(KaosView):
    """`/memory/sessions`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="kaos_list_sessions",
        summary="The ids of all sessions, in the order in which they were created",
        parameters=schemas.NARROW,
        responses=schemas.KaosSessions,
    )
    def get(self, request: Request) -> Response:
        memory = memory_of(request)
        found = bounded_memory.session_ids(memory=memory, narrow=narrow_of(request))
        return Response({"agent": answers.name_of(memory), "sessions": found, "total": len(found)})

    @extend_schema(
        operation_id="kaos_create_session",
        summary="Create a session, empty again if it is there; the oldest make room",
        parameters=schemas.NEW_SESSION,
        request=serializers.KaosNewSession,
        responses=schemas.KaosBegun,
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.KaosNewSession, json_body(request))
        begin = partial(
            bounded_memory.begin_session,
            memory=memory_of(request),
            app_name=body["app_name"],
            address=SessionAddress(
                session_id=body.get("session_id") or "",
                user_id=named_user(request, body["user_id"]),
                namespace=query_id(request, "namespace"),
            ),
            only_if_missing=body["create"] == "if_missing",
            now=timezone.now(),
        )
        return once(request, Begun, begin, lambda done: Response({"session_id": done.session_id}))


class SessionView(KaosView):
    """`/memory/sessions/{session_id}`"""

    scopes = {"GET": "read", "DELETE": "write"}

    @extend_schema(
        operation_id="kaos_get_session",
        summary="A session with its events",
        parameters=schemas.OF_SESSION,
        responses=schemas.KaosSession,
    )
    def get(self, request: Request, session_id: str) -> Response:
        memory, session = _find(request, session_id)
        if session is None:
            raise NotFound("There is no such session.")
        found = bounded_memory.session_events(memory=memory, session=session)
        return Response(answers.session(session, found))

    @extend_schema(
        operation_id="kaos_delete_session",
        summary="Delete a session, with its log and all else of it",
        parameters=schemas.OF_SESSION,
        responses={200: schemas.KaosDeleted},
    )
    def delete(self, request: Request, session_id: str) -> Response:
        delete = partial(
            delete_known,
            memory=memory_of(request),
            session_id=known_id(session_id),
            narrow=narrow_of(request),
            now=timezone.now(),
        )
        return once(request, DeletedSession, delete, lambda done: Response({"deleted": done.found}))


class SessionEventsView(KaosView):
    """`/memory/sessions/{session_id}/events`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="kaos_list_events",
        summary="A session's events, oldest first; empty for an unknown one",
        parameters=[*schemas.OF_SESSION, EVENT_TYPES],
        responses=schemas.KaosEvents,
    )
    def get(self, request: Request, session_id: str) -> Response:
        types = event_types(request)
        memory, session = _find(request, session_id)
        if session is None:
            return Response(answers.events(memory, ()))
        found = bounded_memory.session_events(memory=memory, session=session, event_types=types)
        return Response(answers.events(memory, [(session_id, one) for one in found]))

    @extend_schema(
        operation_id="kaos_add_event",
        summary="Add one event or a list to a session that the memory knows",
        parameters=schemas.OF_SESSION,
        request=serializers.KaosNewEvent,
        responses=schemas.KaosAdded,
    )
    def post(self, request: Request, session_id: str) -> Response:
        now = timezone.now()
        add = partial(
            add_events,
            memory=memory_of(request),
            session_id=known_id(session_id),
            narrow=narrow_of(request),
            events=[_event(one, now) for one in _events_in(json_body(request))],
            now=now,
        )
        return once(request, Added, add, lambda done: Response({"added": done.added}))


class ContextView(KaosView):
    """`/memory/sessions/{session_id}/context`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="kaos_get_context",
        summary="What was said last, as text for a prompt",
        parameters=[*schemas.OF_SESSION, schemas.MAX_EVENTS],
        responses=schemas.KaosContext,
    )
    def get(self, request: Request, session_id: str) -> Response:
        given = request.query_params.get("max_events")
        most = None if given is None else whole_number(given, "max_events", least=1)
        memory, session = _find(request, session_id)
        told = bounded_memory.conversation(memory=memory, session=session, most=most)
        return Response({"context": told})


def _find(request: Request, session_id: str) -> tuple[BoundedMemory, Session | None]:
    """The session of the path, if the memory knows it. Raises Forbidden for one out of the key's reach."""
    memory, narrow = memory_of(request), narrow_of(request)
    session_id = known_id(session_id)
    found = bounded_memory.find_session(memory=memory, session_id=session_id, narrow=narrow)
    if found is None:
        refuse_others(memory=memory, session_id=session_id, narrow=narrow)
    return memory, found


def _events_in(body: Any) -> list[dict[str, Any]]:
    if isinstance(body, list):
        return list(validated(serializers.KaosNewEvents, {"events": body})["events"])
    return [validated(serializers.KaosNewEvent, body)]


def _event(one: dict[str, Any], now: datetime) -> NewEvent:
    return NewEvent(
        event_type=one["event_type"],
        role=role_of(one["event_type"], one["content"]),
        content=one["content"],
        external_id=one.get("event_id"),
        created_at=one.get("timestamp") or now,
        metadata=one.get("metadata") or {},
    )
