"""What the views of every dialect share."""

from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from api.errors import Problem, problem_of
from api.parsers import check_text, parse_json, read_body
from tenants.caller import Caller
from tenants.errors import Invalid
from tenants.scope import NoTenantScope
from working.types import SessionAddress

LONGEST_ID = 255
# One of each class for all requests: checking keeps nothing in it, and copying its fields takes longer.
_checkers: dict[type[BaseSerializer[Any]], BaseSerializer[Any]] = {}


class DialectView(APIView):
    """A view that says which scope each method needs and answers errors in its dialect's shape."""

    scopes: dict[str, str | tuple[str, ...]] = {}
    takes_any_query = False  # or refuses one that is not UTF-8

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        _refuse_undecodable(request._request.META, of_query=not self.takes_any_query)

    def shape(self, problem: Problem) -> Any:
        """The dialect's error body."""
        raise NotImplementedError

    def handle_exception(self, exc: Exception) -> Response:
        problem = None if isinstance(exc, NoTenantScope) else problem_of(exc)
        if problem is None:
            raise exc
        return Response(self.shape(problem), status=problem.status, headers=problem.headers)


def _refuse_undecodable(meta: dict[str, Any], *, of_query: bool) -> None:
    """Raises Invalid when path or query are not UTF-8. Django would put other characters in their place, and
    two ids could become one."""
    path, query = (meta.get(name, "").encode("latin-1") for name in ("strata.path", "QUERY_STRING"))
    for part, sent in {"path": path, "query": unquote_to_bytes(query) if of_query else b""}.items():
        try:
            sent.decode()
        except UnicodeDecodeError as error:
            raise Invalid("Must be UTF-8.", part) from error


def caller_of(request: Request) -> Caller:
    """The request's caller, after authentication."""
    caller: object = request.auth
    assert isinstance(caller, Caller)  # noqa: S101  KeyAuthentication sets nothing else
    return caller


def body_of(request: Request, *, longest: int | None = None) -> bytes:
    """The body as it came, read once; `longest` bytes instead of `MAX_BODY_BYTES`."""
    raw: HttpRequest = request._request
    if "strata.body" not in raw.META:
        raw.META["strata.body"] = read_body(raw, longest=longest)
    body: bytes = raw.META["strata.body"]
    return body


def json_body(request: Request, *, mending: Collection[str] = ()) -> Any:
    """The body's JSON value; None when there is no body. For `mending` see `parse_json`."""
    body = body_of(request)
    return parse_json(body, mending=mending) if body else None


def validated(serializer: type[BaseSerializer[Any]], data: Any) -> dict[str, Any]:
    """The serializer's validated data. Raises DRF's ValidationError."""
    checker = _checkers.get(serializer) or _checkers.setdefault(serializer, serializer())
    return dict(checker.run_validation(data))


def session_address(request: Request, session_id: str, *, longest: int = LONGEST_ID) -> SessionAddress:
    """The session that path and query name."""
    if session_id.endswith("/"):
        raise Invalid("May not end in a slash.", "session_id")
    return SessionAddress(
        session_id=checked_id(session_id, "session_id", longest),
        user_id=query_id(request, "user_id"),
        namespace=query_id(request, "namespace"),
    )


def query_id(request: Request, name: str) -> str | None:
    """An id from the query string, or None."""
    value = request.query_params.get(name)
    return checked_id(value, name) if value else None


def event_types(request: Request) -> list[str]:
    """The types of events that the query names, repeated or with commas between; none: it names no filter.
    Raises Invalid for one that no event can have."""
    named = request.query_params.getlist("event_types")
    return [checked_id(one, "event_types", 64) for chunk in named for one in chunk.split(",")]


def named_user(request: Request, user_id: str | None) -> str | None:
    """The user that body (`user_id`) or query name. Raises Invalid when they name two."""
    in_query = query_id(request, "user_id")
    if user_id and in_query and user_id != in_query:
        raise Invalid("Contradicts user_id in the query.", "user_id")
    return user_id or in_query


def checked_id(value: str, field: str, longest: int = LONGEST_ID) -> str:
    """The id itself. Raises Invalid when it is empty, too long, or text that cannot be stored."""
    if not value:
        raise Invalid("May not be empty.", field)
    if len(value) > longest:
        raise Invalid(f"May not be longer than {longest} characters.", field)
    return check_text(value, field)
