"""Working memory: the sessions of a caller, each read, written and deleted as a whole, or added to."""

from collections.abc import Collection
from dataclasses import replace
from functools import partial

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from api.ams import answers, bodies, given, parameters, schemas
from api.ams.reading import body_as, number_in_query, session_address, text_in_query
from api.ams.views import AmsView
from api.entity_tags import named_versions
from api.idempotency import once
from api.parameters import IF_MATCH
from api.views import caller_of
from recall.working_memory import (
    WindowSize,
    append_to_working_memory,
    delete_working_memory,
    put_working_memory,
    read_working_memory,
    trimmed,
    window_use,
)
from tenants.errors import NotFound, PreconditionFailed
from working.types import SessionAddress
from working.workspace import Workspace, list_workspaces

UNDATED = (
    "Messages without created_at are dated by the server. A future version may refuse them: send created_at,"
    " so that messages keep their order."
)
EMPTY = "empty"  # what MISSING_SESSION may be
HIDDEN = extend_schema(exclude=True)


class WorkingMemoriesView(AmsView):
    """`/v1/working-memory`"""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="v1_list_sessions",
        summary="Ids of sessions, those used last first",
        parameters=[parameters.LIMIT, parameters.OFFSET, parameters.NAMESPACE, parameters.USER],
        responses=schemas.Sessions,
    )
    def get(self, request: Request) -> Response:
        sessions, total = list_workspaces(
            caller=caller_of(request),
            namespace=text_in_query(request, "namespace"),
            user_id=text_in_query(request, "user_id"),
            limit=number_in_query(request, "limit", 20, most=100),
            offset=number_in_query(request, "offset", 0, least=0),
            now=timezone.now(),
        )
        return Response({"sessions": sessions, "total": total})


class WorkingMemoryView(AmsView):
    """`/v1/working-memory/{session_id}`"""

    scopes = {"GET": "read", "PUT": "write", "DELETE": "write"}

    @extend_schema(
        operation_id="v1_get_working_memory",
        summary="A session as a whole",
        parameters=[*parameters.SESSION, *parameters.WINDOW, parameters.RECENT],
        responses=schemas.StoredWorkingMemory,
    )
    def get(self, request: Request, session_id: str) -> Response:
        address, window, now = session_address(request, session_id), _window(request), timezone.now()
        found = read_working_memory(caller=caller_of(request), address=address, now=now)
        if found is None and settings.MISSING_SESSION == EMPTY:
            return Response(answers.unsaved(address, window=window, now=now))
        if found is None:
            raise NotFound(f"Session {session_id} not found")
        shown = trimmed(found, window, number_in_query(request, "recent_messages_limit"))
        return _shown(replace(shown, data=shown.data or {}), window)  # its clients add to what they read

    @extend_schema(
        operation_id="v1_put_working_memory",
        summary="Make a session what is sent; what others have added since it was read stays",
        parameters=[*parameters.SESSION, *parameters.WINDOW, IF_MATCH],
        request=bodies.WorkingMemory,
        responses=schemas.StoredWorkingMemory,
    )
    def put(self, request: Request, session_id: str) -> Response:
        body, window, now = body_as(request, bodies.WorkingMemory), _window(request), timezone.now()
        address = session_address(request, session_id, user_id=body.user_id, namespace=body.namespace)
        put = partial(
            put_working_memory,
            caller=caller_of(request),
            address=address,
            given=given.workspace_of(body, now=now),
            window=window,
            match=_match(request, address),
            now=now,
        )
        undated = given.lacks_moments(body.messages)
        return once(request, Workspace, put, lambda done: _shown(done, window, undated=undated))

    @extend_schema(
        operation_id="v1_delete_working_memory",
        summary="Delete a session, whether there is one or not",
        parameters=parameters.SESSION,
        responses={200: schemas.Done},
    )
    def delete(self, request: Request, session_id: str) -> Response:
        delete = partial(
            delete_working_memory,
            caller=caller_of(request),
            address=session_address(request, session_id),
            now=timezone.now(),
        )
        return once(request, bool, delete, lambda _done: Response(answers.OK))


@extend_schema_view(get=HIDDEN, put=HIDDEN, delete=HIDDEN)
class MessagesView(WorkingMemoryView):
    """`POST /v1/working-memory/{session_id}/messages`; otherwise that is the end of an id with a slash."""

    scopes = WorkingMemoryView.scopes | {"POST": "write"}

    @extend_schema(
        operation_id="v1_append_messages",
        summary="Add messages, whatever others add at the same time; one with a known id is left out",
        parameters=[*parameters.SESSION, *parameters.WINDOW, IF_MATCH],
        request=bodies.Messages,
        responses=schemas.StoredWorkingMemory,
    )
    def post(self, request: Request, session_id: str) -> Response:
        body, window, now = body_as(request, bodies.Messages), _window(request), timezone.now()
        address = session_address(request, session_id, user_id=body.user_id, namespace=body.namespace)
        append = partial(
            append_to_working_memory,
            caller=caller_of(request),
            address=address,
            messages=given.messages_of(body.messages, now),
            window=window,
            match=_match(request, address),
            now=now,
        )
        undated = given.lacks_moments(body.messages)
        return once(request, Workspace, append, lambda done: _shown(done, window, undated=undated))

    def dispatch(self, request: HttpRequest, session_id: str) -> HttpResponseBase:
        is_id = request.method not in ("POST", "OPTIONS")
        return super().dispatch(request, session_id=f"{session_id}/messages" if is_id else session_id)


def _window(request: Request) -> WindowSize:
    return WindowSize(
        model_name=text_in_query(request, "model_name"),
        context_window_max=number_in_query(request, "context_window_max"),
    )


def _match(request: Request, address: SessionAddress) -> Collection[int]:
    """The versions of which the session must have one; none: any. Raises PreconditionFailed where it must
    only be there, and is not."""
    named = named_versions(request, "If-Match", weak=False)
    if named is not None and not named:
        found = read_working_memory(caller=caller_of(request), address=address, now=timezone.now())
        if found is None:
            raise PreconditionFailed("There is no such session.")
    return named or ()


def _shown(found: Workspace, window: WindowSize, *, undated: bool = False) -> Response:
    headers = {"ETag": f'"{found.version}"'} | ({"X-Deprecation-Warning": UNDATED} if undated else {})
    return Response(answers.working_memory(found, window_use(found, window)), headers=headers)
