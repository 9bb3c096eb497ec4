"""Sessions of a project."""

from functools import partial
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.agentops import answers, parameters, schemas
from api.agentops.reading import Members, read_members
from api.agentops.views import AgentOpsView, number_in_query, text_in_query
from api.idempotency import once
from api.views import caller_of, checked_id
from observations.sessions import begin_session, recent_sessions
from recall.transcripts import EndedTranscript, Message, end_with_transcript
from working.sessions import Opened
from working.types import SessionAddress


class SessionsView(AgentOpsView):
    """`/sessions`"""

    scopes = {"POST": "write"}

    @extend_schema(
        operation_id="agentops_begin_session",
        summary="Begin a session, or find it",
        request=schemas.AgentOpsNewSession,
        responses={201: schemas.AgentOpsSession},
    )
    def post(self, request: Request) -> Response:
        body = read_members(request)
        begin = partial(
            begin_session,
            caller=caller_of(request),
            session_id=body.text("id"),
            project=body.text("project"),
            now=timezone.now(),
        )
        return once(request, Opened, begin, lambda done: Response(answers.session(done.session), status=201))


class EndView(AgentOpsView):
    """`/sessions/{session_id}/end`"""

    scopes = {"POST": "write"}

    @extend_schema(
        operation_id="agentops_end_session",
        summary="End a session, with what was said in it",
        request=schemas.AgentOpsTranscript,
        responses=schemas.AgentOpsEndedSession,
    )
    def post(self, request: Request, session_id: str) -> Response:
        messages = [_message(one) for one in read_members(request).items("messages") or ()]
        end = partial(
            end_with_transcript,
            caller=caller_of(request),
            address=SessionAddress(checked_id(session_id, "session_id")),
            messages=messages,
            now=timezone.now(),
        )
        return once(request, EndedTranscript, end, _ended)


class RecentSessionsView(AgentOpsView):
    """`/sessions/recent`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="agentops_recent_sessions",
        summary="A project's sessions, those begun last first",
        parameters=[parameters.PROJECT, parameters.limit(5)],
        responses=schemas.AgentOpsSession(many=True),
    )
    def get(self, request: Request) -> Response:
        found = recent_sessions(
            caller=caller_of(request),
            project=text_in_query(request, "project"),
            limit=number_in_query(request, "limit", 5),
        )
        return Response([answers.session(one) for one in found])


def _message(value: Any) -> Message:
    message = Members(value)
    return Message(role=message.text("role"), content=message.text("content"))


def _ended(done: EndedTranscript) -> Response:
    return Response(
        {"session_id": done.session_id, "summary": done.summary, "message_count": done.message_count}
    )
