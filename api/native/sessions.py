"""Sessions: their list, turns, events, window, and end."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api import parameters
from api.idempotency import once
from api.native import answers, schemas, serializers
from api.native.cursors import page, position_of
from api.native.views import NativeView, flag, page_size, session_address, whole_number
from api.views import caller_of, event_types, json_body, named_user, query_id, validated
from recall.sessions import DeletedSession, EndedSession, delete_session, end_session
from recall.turns import Told, append_turns
from working.events import event_type_of, list_events, role_of
from working.listing import list_sessions
from working.sessions import Opened, access_session, open_session
from working.turns import read_window
from working.types import NewEvent, SessionAddress


class SessionsView(NativeView):
    """`/api/v1/sessions`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        operation_id="sessions_list",
        summary="Sessions, newest activity first",
        parameters=[*parameters.LIST, *parameters.OWNERS, parameters.NAMESPACE, parameters.ACTIVE],
        responses=schemas.SessionPage,
    )
    def get(self, request: Request) -> Response:
        limit = page_size(request)
        found = list_sessions(
            caller=caller_of(request),
            user_id=query_id(request, "user_id"),
            agent_id=query_id(request, "agent_id"),
            project=query_id(request, "project"),
            namespace=query_id(request, "namespace"),
            active=flag(request, "active"),
            before=position_of(request),
            limit=limit + 1,
        )
        return Response(page(found, limit, moment=lambda one: one.last_activity_at, show=answers.session))

    @extend_schema(
        summary="Create or find a session; one that is there keeps its metadata",
        parameters=parameters.USER_OR_NAMESPACE,
        request=serializers.NewSession,
        responses={200: schemas.Session, 201: schemas.Session},
    )
    def post(self, request: Request) -> Response:
        body = validated(serializers.NewSession, _body_or_empty(request))
        address = SessionAddress(
            session_id=body.get("session_id") or str(uuid4()),
            user_id=named_user(request, body.get("user_id")),
            namespace=body.get("namespace") or query_id(request, "namespace"),
        )
        create = partial(
            open_session,
            caller=caller_of(request),
            address=address,
            agent_id=body.get("agent_id"),
            project=body.get("project"),
            metadata=body.get("metadata"),
            now=timezone.now(),
        )
        return once(
            request,
            Opened,
            create,
            lambda done: Response(answers.session(done.session), status=201 if done.created else 200),
        )


class SessionView(NativeView):
    """`/api/v1/sessions/{session_id}`"""

    scopes = {"GET": "read", "DELETE": "write"}

    @extend_schema(summary="A session", parameters=parameters.SESSION, responses=schemas.Session)
    def get(self, request: Request, session_id: str) -> Response:
        address = session_address(request, session_id)
        return Response(answers.session(access_session(caller=caller_of(request), address=address)))

    @extend_schema(
        summary="Delete working state, log and ledger", parameters=parameters.SESSION, responses={204: None}
    )
    def delete(self, request: Request, session_id: str) -> Response:
        delete = partial(
            delete_session,
            caller=caller_of(request),
            address=session_address(request, session_id),
            now=timezone.now(),
        )
        return once(request, DeletedSession, delete, lambda _done: Response(status=204))


class TurnsView(NativeView):
    """`/api/v1/sessions/{session_id}/turns`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="Append turns; a known id is a duplicate",
        parameters=parameters.SESSION,
        request=serializers.AppendTurns,
        responses=schemas.AppendedTurns,
    )
    def post(self, request: Request, session_id: str) -> Response:
        body = validated(serializers.AppendTurns, json_body(request))
        now = timezone.now()
        append = partial(
            append_turns,
            caller=caller_of(request),
            address=_address(request, session_id, body.get("user_id")),
            events=[_turn(turn, now) for turn in body["turns"]],
            agent_id=body.get("agent_id"),
            now=now,
        )
        return once(request, Told, append, lambda done: Response(answers.appended_turns(done)))


class EventsView(NativeView):
    """`/api/v1/sessions/{session_id}/events`"""

    scopes = {"GET": "read", "POST": "write"}

    @extend_schema(
        summary="The log, oldest first",
        parameters=[
            *parameters.SESSION,
            parameters.LIMIT,
            parameters.EVENT_CURSOR,
            parameters.EVENT_TYPES,
        ],
        responses=schemas.EventPage,
    )
    def get(self, request: Request, session_id: str) -> Response:
        limit = page_size(request)
        after = whole_number(request, "cursor", 0, minimum=0, maximum=2**62) or 0
        found = list_events(
            caller=caller_of(request),
            address=session_address(request, session_id),
            event_types=event_types(request),
            after=after,
            limit=limit + 1,
        )
        shown = found[:limit]
        following = str(shown[-1].seq) if len(found) > limit else None
        return Response({"results": [answers.event(one) for one in shown], "next": following})

    @extend_schema(
        summary="Append one event or a list",
        parameters=parameters.SESSION,
        request=serializers.NewEventBody,
        responses=schemas.AppendedEvents,
    )
    def post(self, request: Request, session_id: str) -> Response:
        now = timezone.now()
        append = partial(
            append_turns,
            caller=caller_of(request),
            address=session_address(request, session_id),
            events=[_event(item, now) for item in _event_bodies(json_body(request))],
            now=now,
        )
        return once(request, Told, append, lambda done: Response(answers.appended_events(done.appended)))


class WindowView(NativeView):
    """`/api/v1/sessions/{session_id}/window`"""

    scopes = {"GET": "read"}

    @extend_schema(
        summary="The newest exchanges, ready for a chat API",
        parameters=[*parameters.SESSION, *parameters.WINDOW],
        responses=schemas.Window,
    )
    def get(self, request: Request, session_id: str) -> Response:
        window = read_window(
            caller=caller_of(request),
            address=session_address(request, session_id),
            pairs=whole_number(request, "turns", None, maximum=1_000),
            token_budget=whole_number(request, "token_budget", None, maximum=10_000_000),
            max_tool_result_chars=whole_number(request, "max_tool_result_chars", None, maximum=10_000_000),
            now=timezone.now(),
        )
        return Response(answers.window(window))


class EndView(NativeView):
    """`/api/v1/sessions/{session_id}/end`"""

    scopes = {"POST": "write"}

    @extend_schema(
        summary="End: summary, episode, empty ledger",
        parameters=parameters.SESSION,
        request=serializers.EndSession,
        responses=schemas.EndedSession,
    )
    def post(self, request: Request, session_id: str) -> Response:
        validated(serializers.EndSession, _body_or_empty(request))
        end = partial(
            end_session,
            caller=caller_of(request),
            address=session_address(request, session_id),
            now=timezone.now(),
        )
        return once(request, EndedSession, end, lambda done: Response(answers.ended(done)))


def _body_or_empty(request: Request) -> Any:
    """No body, or null, stands for an empty object; an empty list does not."""
    body = json_body(request)
    return {} if body is None else body


def _address(request: Request, session_id: str, user_id: str | None) -> SessionAddress:
    """The address from path and query, with the user of the body."""
    address = session_address(request, session_id)
    return SessionAddress(address.session_id, named_user(request, user_id), address.namespace)


def _turn(turn: dict[str, Any], now: datetime) -> NewEvent:
    tool = {key: turn[key] for key in ("tool_calls", "tool_call_id", "name") if turn.get(key) is not None}
    return NewEvent(
        event_type=event_type_of(turn["role"], turn.get("tool_calls")),
        role=turn["role"],
        content=turn["content"],
        tool=tool or None,
        external_id=turn.get("id"),
        created_at=turn.get("created_at") or now,
        metadata=turn.get("metadata") or {},
    )


def _event(item: dict[str, Any], now: datetime) -> NewEvent:
    return NewEvent(
        event_type=item["event_type"],
        role=role_of(item["event_type"], item["content"]),
        content=item["content"],
        external_id=item.get("event_id"),
        created_at=item.get("timestamp") or now,
        metadata=item.get("metadata") or {},
    )


def _event_bodies(body: Any) -> list[dict[str, Any]]:
    if isinstance(body, list):
        return list(validated(serializers.NewEvents, {"events": body})["events"])
    return [validated(serializers.NewEventBody, body)]
